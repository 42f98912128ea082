#ifndef ATTEND_ENGINE_TOKENIZER_FILES_WORD_LIST_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_WORD_LIST_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace attend {

// Reads the vocab.txt of BERT: a token a line, whose number is the id. White
// space at the end of a line does not count, and the last of equal tokens
// counts. Returns a WordPiece model of a tokenizer.json. INVALID_ARGUMENT names
// the file and the line: it is not UTF-8, there are too many lines or none.
absl::StatusOr<nlohmann::json> LoadWordList(const std::string& path);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_WORD_LIST_H_
