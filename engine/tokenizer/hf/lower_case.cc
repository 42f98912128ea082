#include "engine/tokenizer/hf/lower_case.h"

#include <nlohmann/json.hpp>

#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Json = nlohmann::json;

bool IsOfType(const Json& normalizer, const char* type) {
  if (!normalizer.is_object()) return false;
  const auto found = normalizer.find("type");
  return found != normalizer.end() && *found == Json(type);
}

}  // namespace

absl::StatusOr<std::string> WithLowerCase(const std::string& path,
                                          absl::string_view json) {
  ASSIGN_OR_RETURN(Json top, ParseJsonObject(path, json));
  const Json& normalizer = top["normalizer"];
  Json all = Json::array({{{"type", "Lowercase"}}});
  if (IsOfType(normalizer, "Sequence") && normalizer.contains("normalizers") &&
      normalizer["normalizers"].is_array()) {
    for (const Json& one : normalizer["normalizers"]) all.push_back(one);
  } else if (!normalizer.is_null()) {
    all.push_back(normalizer);
  }
  for (size_t i = 1; i < all.size(); ++i) {
    if (IsOfType(all[i], "Lowercase")) return std::string(json);
  }
  top["normalizer"] = {{"type", "Sequence"}, {"normalizers", all}};
  return top.dump();
}

}  // namespace attend
