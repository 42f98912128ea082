#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGE_CODES_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGE_CODES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// The tokens of languages that a class of transformers 5.23 numbers after the
// pieces of its SentencePiece model, in the order of their ids: "__en__" of
// M2M100Tokenizer, "en_XX" of MBartTokenizer and MBart50Tokenizer; none of
// others. INVALID_ARGUMENT for a set of M2M100's that it does not have.
absl::StatusOr<std::vector<std::string>> LanguageTokens(const HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGE_CODES_H_
