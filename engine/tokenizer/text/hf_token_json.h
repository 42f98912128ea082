#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKEN_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKEN_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// Reads a token: a string, or an object with the token's properties. `value` is
// inside the value of `key`.
absl::StatusOr<HfConfig::Token> ReadToken(const JsonFile& file, const char* key,
                                          const nlohmann::json& value);

// The tokens as a JSON list like added_tokens of tokenizer.json.
std::string ToJson(const std::vector<HfConfig::Token>& tokens);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKEN_JSON_H_
