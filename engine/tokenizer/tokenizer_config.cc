#include "engine/tokenizer/tokenizer_config.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/read_file.h"

namespace attend {
namespace {

using Json = nlohmann::json;

absl::Status Wrong(const std::string& path, absl::string_view key,
                   const Json& value, absl::string_view expected) {
  std::string text =
      value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 80);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", key, " is ", text, ", expected ", expected));
}

// A token is a string, or an object that has more to say of it.
absl::StatusOr<std::string> Token(const std::string& path,
                                  absl::string_view key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || !value.contains("content") ||
      !value["content"].is_string()) {
    return Wrong(path, key, value, "a token");
  }
  for (const char* flag : {"lstrip", "rstrip", "single_word"}) {
    if (value.value(flag, Json(false)) != Json(false)) {
      return Wrong(path, key, value, absl::StrCat(flag, " to be false"));
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
    return Wrong(path, key, *found, "tokens");
  }
  for (const Json& value : *found) {
    ASSIGN_OR_RETURN(std::string token, Token(path, key, value));
    tokens.push_back(std::move(token));
  }
  return absl::OkStatus();
}

absl::Status ReadBool(const std::string& path, const Json& top, const char* key,
                      bool& on) {
  const auto found = top.find(key);
  if (found == top.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_boolean()) return Wrong(path, key, *found, "true or false");
  on = found->get<bool>();
  return absl::OkStatus();
}

// Numbers beyond any length (transformers writes 1e30) say nothing.
absl::Status ReadLength(const std::string& path, const Json& top,
                        const char* key, int& length) {
  const auto found = top.find(key);
  if (found == top.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_number() || found->get<double>() < 1) {
    return Wrong(path, key, *found, "a positive number");
  }
  const auto value = found->get<double>();
  length = value < 1 << 30 ? static_cast<int>(value) : 0;
  return absl::OkStatus();
}

absl::StatusOr<TokenizerConfig> Read(const std::string& path, const Json& top) {
  if (!top.is_object()) return Wrong(path, "the top", top, "an object");
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
    return Wrong(path, "sp_model_kwargs", *options, "none");
  }
  return config;
}

}  // namespace

absl::StatusOr<TokenizerConfig> LoadTokenizerConfig(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) return TokenizerConfig();
  RETURN_IF_ERROR(text.status());
  try {
    return Read(path, Json::parse(*text, [](int depth, Json::parse_event_t,
                                            const Json&) {
                  // Deeper values are dropped: nothing that is read lies there.
                  return depth < 8;
                }));
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", e.what()));
  }
}

}  // namespace attend
