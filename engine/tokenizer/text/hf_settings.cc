// The files of a tokenizer's settings, as transformers merges them.

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/added_tokens.h"
#include "engine/tokenizer/text/hf_token_json.h"
#include "engine/tokenizer/text/hf_tokens.h"
#include "engine/tokenizer/text/object_file.h"

namespace attend {
namespace {

using Json = nlohmann::json;

bool IsRole(absl::string_view key) {
  return absl::c_linear_search(kRoleTokens, key);
}

// True if a member of the settings is a special token under another name.
bool IsOwnToken(absl::string_view key, const Json& value) {
  return absl::EndsWith(key, "_token") && !IsRole(key) &&
         (value.is_string() ||
          (value.is_object() && value.contains("content")));
}

// Moves the texts of own special tokens out of the settings.
void TakeOwnTexts(const ObjectFile& file, HfSettings& settings) {
  Json& values = settings.values;
  for (const auto& [key, value] : file.Members()) {
    if (!IsOwnToken(key, value)) continue;
    (value.is_string() ? settings.own_texts : settings.own)
        .emplace_back(key, value);
    if (value.is_string()) values.erase(key);
  }
}

// The same for the members of an object of extra tokens.
void TakeExtraObject(const ObjectFile& file, const char* key,
                     HfSettings& settings) {
  for (auto& member : file.Members(key)) {
    settings.own_texts.push_back(std::move(member));
  }
  settings.values.erase(kExtraTokens);
}

// Appends the extra tokens of a list that are not among those of the settings.
void MergeExtra(const Json& list, Json& to) {
  if (!to.is_array()) to = Json::array();
  for (const Json& token : list) {
    if (absl::c_find(to, token) == to.end()) to.push_back(token);
  }
}

// special_tokens_map.json wins over tokenizer_config.json.
absl::Status MergeMap(const std::string& path, HfSettings& settings) {
  ASSIGN_OR_RETURN(const ObjectFile map, ObjectFile::Load(path));
  const JsonFile named = JsonFile::Of(path, map.top);
  for (const auto& [key, value] : map.Members()) {
    if (IsRole(key) && !value.is_null()) {
      RETURN_IF_ERROR(ReadToken(named, key.c_str(), value).status());
    }
    if (IsOwnToken(key, value)) settings.own.emplace_back(key, value);
    Json& to = settings.values[key];
    if (key == kExtraTokens && value.is_array()) {
      MergeExtra(value, to);
    } else {
      to = value;
    }
  }
  const auto extra = settings.values.find(kExtraTokens);
  if (extra != settings.values.end() && extra->is_object()) {
    TakeExtraObject(map, kExtraTokens, settings);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HfSettings> ReadSettings(const std::string& directory,
                                        HfConfig& config) {
  const std::string path = directory + "/tokenizer_config.json";
  ASSIGN_OR_RETURN(const ObjectFile file, ObjectFile::Load(path));
  HfSettings settings{file.top, {}, {}};
  Json& values = settings.values;
  // The old name of the list, unless the new one says something.
  const char* extra = kExtraTokens;
  if (values.contains(kAdditionalTokens) &&
      values.value(kExtraTokens, Json()).empty()) {
    values[kExtraTokens] = values[kAdditionalTokens];
    values.erase(kAdditionalTokens);
    extra = kAdditionalTokens;
  }
  TakeOwnTexts(file, settings);
  if (values.value(kExtraTokens, Json()).is_object()) {
    TakeExtraObject(file, extra, settings);
  }
  const Json decoder = file.top.value("added_tokens_decoder", Json());
  config.names_added = !decoder.is_null();
  if (config.names_added) {
    ASSIGN_OR_RETURN(config.added, TokensOfDecoder(path, decoder));
    return settings;
  }
  RETURN_IF_ERROR(MergeMap(directory + "/special_tokens_map.json", settings));
  ASSIGN_OR_RETURN(config.added,
                   TokensOfAddedFile(directory + "/added_tokens.json",
                                     JsonFile::Of(path, values)));
  return settings;
}

}  // namespace attend
