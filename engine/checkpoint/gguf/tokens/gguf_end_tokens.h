#ifndef ATTEND_ENGINE_CHECKPOINT_GGUF_TOKENS_GGUF_END_TOKENS_H_
#define ATTEND_ENGINE_CHECKPOINT_GGUF_TOKENS_GGUF_END_TOKENS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"

namespace attend {

// Returns the ids of the tokens that end a generated text, each once: first
// those that keys of the metadata name, such as tokenizer.ggml.eot_token_id,
// then those that llama.cpp recognises by their texts, such as "<|im_end|>".
// Many files name only one of the tokens with which their model ends its turn.
// The rule is that of llama_vocab::impl::load in llama.cpp's llama-vocab.cpp.
//
// Tokens whose id is not below `vocab` are ignored; INVALID_ARGUMENT if a key
// names such a token.
absl::StatusOr<std::vector<int>> GgufEndTokens(const JsonFile& metadata,
                                               int64_t vocab);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GGUF_TOKENS_GGUF_END_TOKENS_H_
