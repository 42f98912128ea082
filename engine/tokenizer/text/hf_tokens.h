#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKENS_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKENS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// Reads tokenizer_config.json of a directory, and its added_tokens_decoder into
// config.added. If there is none, merges special_tokens_map.json into the
// settings and reads added_tokens.json. Returns the settings.
absl::StatusOr<nlohmann::json> ReadSettings(const std::string& directory,
                                            HfConfig& config);

// Reads the tokens with a role and the additional ones into config.special, in
// the order in which transformers adds them. config.tokenizer_class has the
// defaults of what config.settings, which are `settings`, do not name.
absl::Status ReadSpecialTokens(const nlohmann::json& settings,
                               HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKENS_H_
