#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/class_table.h"
#include "engine/tokenizer/text/hf_token_json.h"
#include "engine/tokenizer/text/hf_tokens.h"
#include "engine/tokenizer/text/language_codes.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Token = HfConfig::Token;

void AppendRole(Token token, HfConfig& config) {
  token.special = true;
  config.special.push_back(std::move(token));
  ++config.roles;
}

// A role of the class: its token, that of the settings, or none.
absl::Status ReadRole(const JsonFile& settings, const char* key,
                      const Json& fallback, const Json* row,
                      std::string& content, HfConfig& config) {
  const Json* found = settings.Find(key);
  Json value;
  if (found != nullptr) {
    value = *found;
  } else if (!settings.IsNull(key)) {
    value = fallback;
  }
  if (value.is_null()) return absl::OkStatus();
  ASSIGN_OR_RETURN(Token token, ReadToken(settings, key, value));
  content = token.content;
  token.named = found != nullptr;
  if (row != nullptr && value.is_string() &&
      key == absl::string_view("mask_token") &&
      row->value("mask_strips", false)) {
    token.lstrip = true;
    token.normalized = row->value("mask_normalized", false);
  }
  AppendRole(std::move(token), config);
  return absl::OkStatus();
}

// Tokens under other names: those of the class, then those of the files.
absl::Status ReadOwnTokens(const HfSettings& from, const JsonFile& settings,
                           const Json* row, HfConfig& config) {
  HfSettings::Named all;
  if (row != nullptr) {
    for (const Json& own : row->value("own_roles", Json::array())) {
      all.emplace_back(
          own[0], settings.IsNull(own[0].get<std::string>()) ? Json() : own[1]);
    }
  }
  all.insert(all.end(), from.own.begin(), from.own.end());
  all.insert(all.end(), from.own_texts.begin(), from.own_texts.end());
  std::map<std::string, size_t> places;
  HfSettings::Named kept;
  for (auto& [key, value] : all) {
    const auto [place, is_new] = places.emplace(key, kept.size());
    if (is_new) kept.emplace_back(key, Json());
    kept[place->second].second = std::move(value);
  }
  for (const auto& [key, value] : kept) {
    if (value.is_null()) continue;
    ASSIGN_OR_RETURN(Token token, ReadToken(settings, key.c_str(), value));
    AppendRole(std::move(token), config);
  }
  return absl::OkStatus();
}

// The extra special tokens of the class.
absl::StatusOr<std::vector<std::string>> ExtraTokens(const JsonFile& settings,
                                                     const Json& rule,
                                                     const HfConfig& config) {
  std::vector<std::string> tokens;
  if (rule.is_array()) return rule.get<std::vector<std::string>>();
  if (rule == "languages") return LanguageTokens(config);
  if (rule == "extra_ids") {
    for (int i = 0; i < config.extra_ids; ++i) {
      tokens.push_back(absl::StrCat("<extra_id_", i, ">"));
    }
  }
  if (rule == "offset") {
    ASSIGN_OR_RETURN(const std::string mask,
                     settings.StringOr("mask_token_sent", "<mask_1>"));
    if (!settings.IsNull("mask_token_sent")) tokens.push_back(mask);
    for (int i = 2; i < config.offset; ++i) {
      tokens.push_back(absl::StrCat("<unk_", i, ">"));
    }
  }
  return tokens;
}

// Adds the extra tokens of the class. Others came before only if
// special_tokens_map.json has them under their old name.
absl::Status AddExtraTokens(const JsonFile& settings, const Json& rule,
                            HfConfig& config) {
  ASSIGN_OR_RETURN(const std::vector<std::string> own,
                   ExtraTokens(settings, rule, config));
  std::vector<Token> tokens;
  tokens.reserve(own.size());
  for (const std::string& token : own) tokens.push_back({.content = token});
  const auto given = config.special.begin() + config.roles;
  if (given != config.special.end()) {
    const bool has_ids =
        std::any_of(given, config.special.end(), [](const Token& token) {
          return absl::StrContains(token.content, "<extra_id_");
        });
    if (rule.is_array() || (rule == "extra_ids" && has_ids)) tokens.clear();
    if (rule == "offset") config.special.erase(given, config.special.end());
  }
  const bool first = config.tokenizer_class == "MBartTokenizer";
  config.special.insert(
      first ? config.special.begin() + config.roles : config.special.end(),
      tokens.begin(), tokens.end());
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadSpecialTokens(const HfSettings& from, HfConfig& config) {
  const JsonFile& settings = *config.settings;
  const Json* row = FindClassRow(config.tokenizer_class);
  std::string* const contents[] = {&config.bos, &config.eos, &config.unk,
                                   &config.sep, &config.pad, &config.cls,
                                   &config.mask};
  for (size_t i = 0; i < std::size(kRoleTokens); ++i) {
    const Json fallback =
        row == nullptr ? Json() : (*row)["roles"].value(kRoleTokens[i], Json());
    RETURN_IF_ERROR(ReadRole(settings, kRoleTokens[i], fallback, row,
                             *contents[i], config));
  }
  RETURN_IF_ERROR(ReadOwnTokens(from, settings, row, config));
  const bool has_extra = from.values.contains(kExtraTokens);
  const char* key = has_extra ? kExtraTokens : kAdditionalTokens;
  const Json* extra = settings.Find(key);
  if (extra != nullptr && !extra->is_array()) {
    return settings.Unexpected(key, "tokens");
  }
  if (extra != nullptr) {
    for (const Json& value : *extra) {
      ASSIGN_OR_RETURN(Token token, ReadToken(settings, key, value));
      config.special.push_back(std::move(token));
    }
  }
  if (row == nullptr || has_extra) {
    return absl::OkStatus();
  }
  return AddExtraTokens(settings, row->value("extra", Json()), config);
}

}  // namespace attend
