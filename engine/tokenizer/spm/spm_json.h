#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/spm/spm_file.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// A tokenizer.json for a SentencePiece model in a directory without a
// tokenizer.json. It does what config.tokenizer_class does in transformers
// 5.23: T5Tokenizer, XLMRobertaTokenizer, MBartTokenizer, MBart50Tokenizer or
// PegasusTokenizer. INVALID_ARGUMENT names `path`, the file of the model, and
// what is wrong: another class, a model that does not begin with the special
// pieces that the class numbers itself, or a piece that occurs twice.
absl::StatusOr<std::string> SpmToJson(const std::string& path,
                                      const SpmFile& file,
                                      const HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_JSON_H_
