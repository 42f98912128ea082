#ifndef ATTEND_ENGINE_TOKENIZER_SPM_SPM_JSON_H_
#define ATTEND_ENGINE_TOKENIZER_SPM_SPM_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/tokenizer/spm/spm_file.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// The tokenizer.json that stands for a SentencePiece model in a directory
// without one, as `config.tokenizer_class` of transformers 5.23 reads such a
// model: T5Tokenizer, XLMRobertaTokenizer, MBartTokenizer, MBart50Tokenizer or
// PegasusTokenizer. INVALID_ARGUMENT names `path`, the model's file, and what
// is wrong: another class, a model that does not begin with the special pieces
// which the class numbers itself, a piece twice.
absl::StatusOr<std::string> SpmToJson(const std::string& path,
                                      const SpmFile& file,
                                      const HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SPM_SPM_JSON_H_
