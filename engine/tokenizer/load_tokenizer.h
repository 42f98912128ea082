#ifndef ATTEND_ENGINE_TOKENIZER_LOAD_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_LOAD_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/text/hf_config.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Loads the tokenizer of a checkpoint's directory. The first of these files
// that is there decides:
//   source.spm               Marian. Needs target.spm and vocab.json, and
//                            target_vocab.json if vocabularies are separate.
//   tokenizer.json           any model but M2M100, whose class has no use for
//   it the files of the class   see LoadTokenizerFiles()
// Reads tokenizer_config.json too (see HfConfig). If no file is there, the
// tokenizer is IdsOnly. `settings` do not count for Marian and M2M100.
// NOT_FOUND or INVALID_ARGUMENT names the file.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(
    const std::string& directory, const TokenizerSettings& settings = {});

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_LOAD_TOKENIZER_H_
