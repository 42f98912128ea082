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

// The same for one token, as Hugging Face's WordPiece decoder does it. That
// decoder has one more rule: " do not" becomes " don't".
std::string CleanUpToken(absl::string_view token);

// The length of the longest prefix of `text` whose cleaned form does not depend
// on the text that follows: CleanUpSpaces(prefix) + CleanUpSpaces(rest) equals
// CleanUpSpaces(text).
size_t CleanUpBoundary(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_CLEAN_UP_H_
