#ifndef ATTEND_SERVER_DOCUMENTS_LITERALS_TEXT_H_
#define ATTEND_SERVER_DOCUMENTS_LITERALS_TEXT_H_

#include <unicode/umachine.h>

#include <cstddef>

#include "absl/strings/string_view.h"

namespace attend {

// Characters of a text in UTF-8, as the readers of literals see them.

// The first character, and its bytes. A byte that is not UTF-8 is a character
// of its own, U+FFFD. U+0000 of no bytes if the text is empty.
struct FirstChar {
  UChar32 c = 0;
  size_t bytes = 0;
};
FirstChar First(absl::string_view text);

// The last character; U+0000 if the text is empty.
UChar32 Last(absl::string_view text);

// Returns true for a character of a word: a letter, a digit, a combining mark
// or "_".
bool IsWordChar(UChar32 c);
// Returns true for a character of a word in a script that writes no spaces
// between words, or whose words get suffixes without one, by Unicode's property
// Line_Break and CLDR's data of scripts: Han, kana, Hangul, Thai, Khmer,
// Javanese and the like. There a literal begins and ends inside of a run of
// letters.
bool IsUnspaced(UChar32 c);
// Returns true for a character that continues a word that a literal ends with.
bool ContinuesWord(UChar32 c);

// The number of bytes at the beginning of `text` that are letters, digits and
// marks of any script, or in `set`; at most kLongestName.
inline constexpr size_t kLongestName = 64;
size_t NameSize(absl::string_view text, absl::string_view set);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LITERALS_TEXT_H_
