#ifndef ATTEND_SERVER_DOCUMENTS_HIDDEN_CHARACTERS_H_
#define ATTEND_SERVER_DOCUMENTS_HIDDEN_CHARACTERS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The number of bytes of the character that `text` begins with if it only says
// how text is laid out, and is nothing that a model should read; else 0:
// * soft hyphens, spaces of no width, word joiners, byte order marks;
// * marks of the direction of text;
// * joiners and non-joiners (ZWJ, ZWNJ) between letters that do not join, as
//   those of Latin. They are kept between those of scripts with joined letters,
//   where they make other words, and in emoji.
// `before` is what stands before the character. Both are UTF-8.
int HiddenSize(absl::string_view before, absl::string_view text);

// The first place at or after `at` at which such a character may be; the size
// of the text if there is none.
int FindMaybeHidden(absl::string_view text, int at);

// A text without such characters.
std::string WithoutHidden(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_HIDDEN_CHARACTERS_H_
