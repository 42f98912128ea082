#ifndef ATTEND_ENGINE_TOKENIZER_LOAD_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_LOAD_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// Reads the files of a checkpoint's directory, by the first that is there:
//   source.spm     Marian: and target.spm, vocab.json (and target_vocab.json
//                  where vocabularies are separate)
//   tokenizer.json
//   spiece.model, sentencepiece.bpe.model
//                  T5, Pegasus, XLM-R, mBART; M2M100: and vocab.json
// and tokenizer_config.json beside them (see HfConfig). A directory without any
// of them has a tokenizer that knows no text (IdsOnly).
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(
    const std::string& directory);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_LOAD_TOKENIZER_H_
