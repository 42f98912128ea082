#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_ADDED_TOKENS_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_ADDED_TOKENS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// The tokens of added_tokens_decoder, in the order of their ids. `path` is the
// file that has it.
absl::StatusOr<std::vector<HfConfig::Token>> TokensOfDecoder(
    const std::string& path, const nlohmann::json& decoder);

// The tokens of added_tokens.json, in the order of their ids; none if there is
// no such file. Those that `settings` name as special are.
absl::StatusOr<std::vector<HfConfig::Token>> TokensOfAddedFile(
    const std::string& path, const JsonFile& settings);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_ADDED_TOKENS_H_
