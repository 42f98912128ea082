#ifndef ATTEND_ENGINE_TOKENIZER_GGUF_PIECE_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_GGUF_PIECE_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/gguf/gguf_vocabulary.h"

namespace attend {

// How a vocabulary of model "llama" treats spaces. The file does not say it;
// its architecture does.
enum class PieceSpaces {
  kFirst,    // Llama: one before a text, as far as space_before
  kPrepend,  // Phi-3: the same, and before a text that begins with one
  kNone,     // Gemma: none. Runs of spaces are tokens, spelled as spaces
};

// A tokenizer.json for a vocabulary of model "llama": pairs of pieces are
// merged, as SentencePiece's BPE does. Without merges in the file they follow
// from the pieces and their scores, with Gemma from the order of the pieces.
// INVALID_ARGUMENT names the key of `metadata`, its value and the limit.
absl::StatusOr<nlohmann::json> PieceJson(const JsonFile& metadata,
                                         GgufVocabulary vocabulary,
                                         PieceSpaces spaces);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_GGUF_PIECE_JSON_H_
