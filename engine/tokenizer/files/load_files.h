#ifndef ATTEND_ENGINE_TOKENIZER_FILES_LOAD_FILES_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_LOAD_FILES_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Loads the tokenizer of a directory without a tokenizer.json, as AutoTokenizer
// of transformers 5.23 builds it by its class. Null if the directory has no
// file that the class reads, and no vocabulary of another class. NOT_FOUND or
// INVALID_ARGUMENT names the file and what is wrong, and a class that cannot be
// built without a tokenizer.json. `settings` do not count for Marian and
// M2M100.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizerFiles(
    const std::string& directory, const TokenizerSettings& settings = {});

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_LOAD_FILES_H_
