#ifndef ATTEND_ENGINE_TOKENIZER_GGUF_PIECE_MERGES_H_
#define ATTEND_ENGINE_TOKENIZER_GGUF_PIECE_MERGES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/gguf/gguf_vocabulary.h"

namespace attend {

// The merges that a vocabulary of pieces implies: each way to make a normal
// piece of two pieces. A piece with a higher score comes first; scores[id] is
// that of piece `id`. In the order of transformers' generate_merges().
// INVALID_ARGUMENT if a normal piece is longer than kMaxPieceBytes.
inline constexpr size_t kMaxPieceBytes = 256;
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> PieceMerges(
    const JsonFile& metadata, const GgufVocabulary& vocabulary,
    absl::Span<const float> scores);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_GGUF_PIECE_MERGES_H_
