#include "engine/tokenizer/text/hf_tokens.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/class_table.h"
#include "engine/tokenizer/text/hf_token_json.h"
#include "engine/tokenizer/text/language_codes.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Token = HfConfig::Token;

constexpr char kAdded[] = "added_tokens_decoder";
constexpr char kExtra[] = "extra_special_tokens";
constexpr char kAdditional[] = "additional_special_tokens";
constexpr const char* kRoles[] = {"bos_token", "eos_token", "unk_token",
                                  "sep_token", "pad_token", "cls_token",
                                  "mask_token"};

bool IsRole(absl::string_view key) {
  return absl::c_linear_search(kRoles, key);
}

// The object of a file; {} if there is no such file.
absl::StatusOr<Json> LoadObject(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) return Json::object();
  RETURN_IF_ERROR(text.status());
  return ParseJsonObject(path, *text);
}

// Reads added_tokens.json: an id for each token.
absl::Status ReadAddedFile(const std::string& path, const JsonFile& settings,
                           std::map<int, Token>& by_id) {
  ASSIGN_OR_RETURN(const Json file, LoadObject(path));
  std::set<std::string> special;
  const auto add = [&](const Json& token) {
    const Json& text =
        token.is_object() ? token.value("content", Json()) : token;
    if (text.is_string()) special.insert(text.get<std::string>());
  };
  for (const char* role : kRoles) {
    if (const Json* found = settings.Find(role)) add(*found);
  }
  const Json* extra = settings.Find(kExtra);
  if (extra != nullptr && extra->is_array()) {
    for (const Json& token : *extra) add(token);
  }
  const JsonFile named = JsonFile::Of(path, file);
  for (const auto& [text, value] : file.items()) {
    ASSIGN_OR_RETURN(const int64_t id, named.Int(text, {0, 1 << 24}));
    const bool is_special = special.count(text) > 0;
    by_id[static_cast<int>(id)] = {
        .content = text, .normalized = !is_special, .special = is_special};
  }
  return absl::OkStatus();
}

// special_tokens_map.json wins over tokenizer_config.json.
absl::Status MergeMap(const std::string& path, Json& settings) {
  ASSIGN_OR_RETURN(const Json map, LoadObject(path));
  const JsonFile named = JsonFile::Of(path, map);
  for (const auto& [key, value] : map.items()) {
    if (IsRole(key) && !value.is_null()) {
      RETURN_IF_ERROR(ReadToken(named, key.c_str(), value).status());
    }
    Json& to = settings[key];
    if (key != kExtra || !value.is_array() || !to.is_array()) {
      to = value;
      continue;
    }
    for (const Json& token : value) {
      if (std::find(to.begin(), to.end(), token) == to.end()) {
        to.push_back(token);
      }
    }
  }
  return absl::OkStatus();
}

void AppendRole(Token token, HfConfig& config) {
  token.special = true;
  config.special.push_back(std::move(token));
  ++config.roles;
}

// A role of the class: its token, that of the settings, or none.
absl::Status ReadRole(const JsonFile& settings, const char* key,
                      const Json& fallback, const Json* row,
                      std::string* content, HfConfig& config) {
  const Json* found = settings.Find(key);
  Json value;
  if (found != nullptr) {
    value = *found;
  } else if (!settings.IsNull(key)) {
    value = fallback;
  }
  if (value.is_null()) return absl::OkStatus();
  ASSIGN_OR_RETURN(Token token, ReadToken(settings, key, value));
  if (content != nullptr) *content = token.content;
  if (row != nullptr && value.is_string() &&
      key == absl::string_view("mask_token") &&
      row->value("mask_strips", false)) {
    token.lstrip = true;
    token.normalized = row->value("mask_normalized", false);
  }
  AppendRole(std::move(token), config);
  return absl::OkStatus();
}

// Roles that only some classes have, and those that a file makes up.
absl::Status ReadOwnRoles(const JsonFile& settings, const Json& top,
                          const Json* row, HfConfig& config) {
  std::set<std::string> seen;
  if (row != nullptr) {
    for (const Json& own : row->value("own_roles", Json::array())) {
      const std::string key = own[0];
      seen.insert(key);
      RETURN_IF_ERROR(
          ReadRole(settings, key.c_str(), own[1], nullptr, nullptr, config));
    }
  }
  for (const auto& [key, value] : top.items()) {
    const bool named =
        absl::EndsWith(key, "_token") &&
        (value.is_string() || (value.is_object() && value.contains("content")));
    if (!named || IsRole(key) || seen.count(key) > 0) continue;
    RETURN_IF_ERROR(
        ReadRole(settings, key.c_str(), nullptr, nullptr, nullptr, config));
  }
  const Json* extra = settings.Find(kExtra);
  if (extra == nullptr || !extra->is_object()) return absl::OkStatus();
  for (const Json& value : *extra) {
    ASSIGN_OR_RETURN(Token token, ReadToken(settings, kExtra, value));
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

absl::StatusOr<Json> ReadSettings(const std::string& directory,
                                  HfConfig& config) {
  const std::string path = directory + "/tokenizer_config.json";
  ASSIGN_OR_RETURN(Json settings, LoadObject(path));
  // The old name of the list, unless the new one says something.
  if (settings.contains(kAdditional) &&
      settings.value(kExtra, Json()).empty()) {
    settings[kExtra] = settings[kAdditional];
    settings.erase(kAdditional);
  }
  std::map<int, Token> by_id;
  const JsonFile file = JsonFile::Of(path, settings);
  const Json* found = file.Find(kAdded);
  config.names_added = found != nullptr;
  if (found == nullptr) {
    RETURN_IF_ERROR(MergeMap(directory + "/special_tokens_map.json", settings));
    RETURN_IF_ERROR(ReadAddedFile(directory + "/added_tokens.json",
                                  JsonFile::Of(path, settings), by_id));
  } else if (!found->is_object()) {
    return file.Unexpected(kAdded, "an object");
  } else {
    for (const auto& [key, value] : found->items()) {
      int id = 0;
      if (!absl::SimpleAtoi(key, &id)) {
        return absl::InvalidArgumentError(absl::StrCat(
            path, ": ", kAdded, " has \"", key, "\", expected ids"));
      }
      ASSIGN_OR_RETURN(by_id[id], ReadToken(file, kAdded, value));
    }
  }
  for (auto& [id, token] : by_id) {
    token.id = id;
    config.added.push_back(std::move(token));
  }
  return settings;
}

absl::Status ReadSpecialTokens(const Json& top, HfConfig& config) {
  const JsonFile& settings = *config.settings;
  const Json* row = FindClassRow(config.tokenizer_class);
  std::string* const contents[] = {&config.bos, &config.eos, &config.unk,
                                   &config.sep, &config.pad, &config.cls,
                                   &config.mask};
  for (size_t i = 0; i < std::size(kRoles); ++i) {
    const Json fallback =
        row == nullptr ? Json() : (*row)["roles"].value(kRoles[i], Json());
    RETURN_IF_ERROR(
        ReadRole(settings, kRoles[i], fallback, row, contents[i], config));
  }
  RETURN_IF_ERROR(ReadOwnRoles(settings, top, row, config));
  const char* key =
      top.contains(kExtra) && !top[kExtra].is_object() ? kExtra : kAdditional;
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
  if (row == nullptr || (top.contains(key) && key == kExtra)) {
    return absl::OkStatus();
  }
  return AddExtraTokens(settings, row->value("extra", Json()), config);
}

}  // namespace attend
