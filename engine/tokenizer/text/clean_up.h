#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_CLEAN_UP_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_CLEAN_UP_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// `text` without white space at either end, as Python's str.strip() leaves it.
std::string StripSpaces(absl::string_view text);

// What transformers' clean_up_tokenization does: "Hello , it 's me ." becomes
// "Hello, it's me."
std::string CleanUpSpaces(absl::string_view text);

// The same of one token by the rules of Hugging Face's WordPiece decoder, which
// has one more: " do not" becomes " don't".
std::string CleanUpToken(absl::string_view token);

// The length of the longest prefix of `text` that CleanUpSpaces() treats alike
// whatever follows: cleaned parts joined equal the cleaned whole.
size_t CleanUpBoundary(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_CLEAN_UP_H_
