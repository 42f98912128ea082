#ifndef ATTEND_ENGINE_TOKENIZER_SPM_PIECE_PARTS_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_PIECE_PARTS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/spm/piece_classes.h"
#include "engine/tokenizer/spm/spm_file.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// The parts of a tokenizer.json that transformers 5.23 takes out of a
// SentencePiece model, for a class that builds the rest: model, and the
// normalizer with the table of the file. For PlainPieceClass() all parts.
// INVALID_ARGUMENT names `path`, the file of the model, and what is wrong: a
// unigram class and a model of byte pairs, a piece above 1024 bytes, or too
// many merges.
absl::StatusOr<nlohmann::json> PieceParts(const std::string& path,
                                          const SpmFile& file,
                                          const PieceClass& row,
                                          const HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_PIECE_PARTS_H_
