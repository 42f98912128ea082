#include "engine/tokenizer/tokenizer_config.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/json_fields.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// A token is a string, or an object that has more to say of it.
absl::StatusOr<std::string> Token(const std::string& path,
                                  absl::string_view key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || !value.contains("content") ||
      !value["content"].is_string()) {
    return WrongField(path, key, value, "a token");
  }
  for (const char* flag : {"lstrip", "rstrip", "single_word"}) {
    if (value.value(flag, Json(false)) != Json(false)) {
      return WrongField(path, key, value, absl::StrCat(flag, " to be false"));
    }
  }
  return value["content"].get<std::string>();
}

absl::Status ReadToken(const std::string& path, const Json& top,
                       const char* key, std::string& token) {
  const auto found = top.find(key);
  if (found == top.end() || found->is_null()) return absl::OkStatus();
  ASSIGN_OR_RETURN(token, Token(path, key, *found));
  return absl::OkStatus();
}

// Tokens of a list, or of an object's values.
absl::Status ReadTokens(const std::string& path, const Json& top,
                        const char* key, std::vector<std::string>& tokens) {
  const auto found = top.find(key);
  if (found == top.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_array() && !found->is_object()) {
    return WrongField(path, key, *found, "tokens");
  }
  for (const Json& value : *found) {
    ASSIGN_OR_RETURN(std::string token, Token(path, key, value));
    tokens.push_back(std::move(token));
  }
  return absl::OkStatus();
}

absl::StatusOr<TokenizerConfig> Read(const std::string& path, const Json& top) {
  TokenizerConfig config;
  RETURN_IF_ERROR(ReadToken(path, top, "eos_token", config.eos));
  RETURN_IF_ERROR(ReadToken(path, top, "unk_token", config.unk));
  RETURN_IF_ERROR(ReadToken(path, top, "pad_token", config.pad));
  for (const char* key : {"additional_special_tokens", "extra_special_tokens",
                          "added_tokens_decoder"}) {
    RETURN_IF_ERROR(ReadTokens(path, top, key, config.more_special));
  }
  RETURN_IF_ERROR(
      ReadBool(path, top, "separate_vocabs", config.separate_vocabs));
  RETURN_IF_ERROR(
      ReadBool(path, top, "split_special_tokens", config.split_special_tokens));
  RETURN_IF_ERROR(ReadBool(path, top, "clean_up_tokenization_spaces",
                           config.clean_up_spaces));
  RETURN_IF_ERROR(ReadLength(path, top, "model_max_length", config.max_length));
  const auto options = top.find("sp_model_kwargs");
  if (options != top.end() && !options->empty()) {
    return WrongField(path, "sp_model_kwargs", *options, "none");
  }
  return config;
}

}  // namespace

absl::StatusOr<TokenizerConfig> LoadTokenizerConfig(const std::string& path) {
  ASSIGN_OR_RETURN(const Json top, LoadObject(path));
  return Read(path, top);
}

}  // namespace attend
