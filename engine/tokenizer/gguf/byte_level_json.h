#ifndef ATTEND_ENGINE_TOKENIZER_GGUF_BYTE_LEVEL_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_GGUF_BYTE_LEVEL_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/gguf/gguf_vocabulary.h"

namespace attend {

// A tokenizer.json for a vocabulary of model "gpt2": pairs of byte-level tokens
// are merged within words, and what a word is depends on vocabulary.pre.
// INVALID_ARGUMENT names the key of `metadata`, its value and what is
// supported.
absl::StatusOr<nlohmann::json> ByteLevelJson(const JsonFile& metadata,
                                             const GgufVocabulary& vocabulary);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_GGUF_BYTE_LEVEL_JSON_H_
