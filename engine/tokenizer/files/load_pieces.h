#ifndef ATTEND_ENGINE_TOKENIZER_FILES_LOAD_PIECES_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_LOAD_PIECES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/spm/piece_classes.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Loads the tokenizer of a class that is built of the SentencePiece model in
// `file` of the directory. INVALID_ARGUMENT names the file.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadPieces(
    const std::string& directory, absl::string_view file, const PieceClass& row,
    const TokenizerSettings& settings);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_LOAD_PIECES_H_
