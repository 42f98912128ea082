#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGE_CODES_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGE_CODES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// The tokens of languages, in the order of their ids. They stand after the
// pieces of the SentencePiece model in some tokenizer classes of transformers
// 5.23: "__en__" in M2M100Tokenizer, "en_XX" in MBartTokenizer and
// MBart50Tokenizer. Empty for other classes. INVALID_ARGUMENT if
// config.language_codes is no set of M2M100Tokenizer.
absl::StatusOr<std::vector<std::string>> LanguageTokens(const HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_LANGUAGE_CODES_H_
