#ifndef ATTEND_ENGINE_TOKENIZER_HF_CLASS_TOKENS_H_
#define ATTEND_ENGINE_TOKENIZER_HF_CLASS_TOKENS_H_

#include <nlohmann/json.hpp>

#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// Puts all tokens that are to be added to a tokenizer into config.added.
// `file` is the contents of its tokenizer.json. `present`: the tokenizer has
// the tokens of the file already.
void GatherTokens(const nlohmann::json& file, bool present, HfConfig& config);

// Adds special tokens once more, as some classes do: `which` is "respecial" of
// FindClassRow().
void AddAgain(const nlohmann::json& which, HfConfig& config);

// Reads the side of truncation and the token of padding, which are left out
// when a file is loaded. `row` may be null.
void ReadDefaults(const nlohmann::json& file, const nlohmann::json* row,
                  HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_CLASS_TOKENS_H_
