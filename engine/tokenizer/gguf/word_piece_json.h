#ifndef ATTEND_ENGINE_TOKENIZER_GGUF_WORD_PIECE_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_GGUF_WORD_PIECE_JSON_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/gguf/gguf_vocabulary.h"

namespace attend {

// Spells the tokens of a vocabulary of model "bert" as WordPiece has them. In
// the file "\u2581dog" begins a word and "s" continues one; here it is "dog"
// and
// "##s".
void SpellAsWordPieces(GgufVocabulary& vocabulary);

// A tokenizer.json for such a vocabulary: BERT's (Devlin et al. 2019). Whether
// texts become lowercase is said by keys "normalizer.*"; else they do if no
// token has a capital letter. INVALID_ARGUMENT names the key of `metadata`.
absl::StatusOr<nlohmann::json> WordPieceJson(const JsonFile& metadata,
                                             const GgufVocabulary& vocabulary);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_GGUF_WORD_PIECE_JSON_H_
