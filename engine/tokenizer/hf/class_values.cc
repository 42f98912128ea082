#include "engine/tokenizer/hf/class_values.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace attend {

using Json = nlohmann::json;

const std::string& RoleText(const HfConfig& config, absl::string_view role) {
  static const auto* none = new std::string();
  const std::pair<absl::string_view, const std::string*> roles[] = {
      {"bos", &config.bos},  {"eos", &config.eos}, {"unk", &config.unk},
      {"sep", &config.sep},  {"pad", &config.pad}, {"cls", &config.cls},
      {"mask", &config.mask}};
  for (const auto& [name, text] : roles) {
    if (name == role) return *text;
  }
  return *none;
}

ClassValues::ClassValues(const Json& row, const HfConfig& config, Json charsmap)
    : config_(config) {
  for (const auto& [flag, fallback] : row["flags"].items()) {
    const Json* said = config.settings ? config.settings->Find(flag) : nullptr;
    const bool is_null = config.settings && config.settings->IsNull(flag) &&
                         !row.value("null_is_default", false);
    values_[flag] = said != nullptr ? *said : is_null ? Json() : fallback;
  }
  const auto is = [&](const char* flag, bool fallback) {
    const auto found = values_.find(flag);
    return found == values_.end() ? fallback : found->second == true;
  };
  const bool prefix = is("add_prefix_space", true);
  values_["always"] = prefix ? "always" : "never";
  values_["first"] = prefix ? "first" : "never";
  values_["always_first"] = prefix ? "always" : "first";
  values_["legacy"] = !prefix               ? "never"
                      : is("legacy", false) ? "always"
                                            : "first";
  values_["strips_accents"] = !is("keep_accents", false);
  values_["no_charsmap"] = charsmap.is_null();
  values_["charsmap"] = std::move(charsmap);
}

Json ClassValues::Value(const std::string& name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  absl::string_view role = name;
  if (absl::ConsumeSuffix(&role, "_token")) return RoleText(config_, role);
  return nullptr;
}

Json ClassValues::Fill(const Json& json) const {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    return absl::StartsWith(text, "$") ? Value(text.substr(1)) : json;
  }
  if (!json.is_structured()) return json;
  if (json.is_object() && json.contains("if")) {
    const Json flag = Value(json["if"]);
    if (flag.is_null() || flag == false) return nullptr;
  }
  Json filled = json;
  if (json.is_array()) filled.clear();
  for (const auto& [key, value] : json.items()) {
    Json element = Fill(value);
    if (json.is_object()) {
      filled[key] = std::move(element);
    } else if (!element.is_null()) {
      filled.push_back(std::move(element));
    }
  }
  if (json.is_object()) filled.erase("if");
  return filled;
}

}  // namespace attend
