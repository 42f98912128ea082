#ifndef ATTEND_SERVER_DOCUMENTS_LONG_WORDS_H_
#define ATTEND_SERVER_DOCUMENTS_LONG_WORDS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/text_breaks.h"

namespace attend {

// Longest word of a language, in characters: a compound of Sanskrit has 195.
inline constexpr int kLongestWord = 256;
// Longest run of words with marks, but no space, between them, in bytes: a row
// of a table has fewer.
inline constexpr int kLongestUnspaced = 4096;

// Finds runs of characters that are too long to be language, so that they are
// kept as they are: a model makes nonsense of each of their parts, and takes as
// long as for pages of text. Returns, in order and apart from each other:
// * runs of more than kLongestWord letters, digits and marks that base64, keys
//   and paths have between them: data, keys, digests;
// * addresses and placeholders (see FindLiterals()) of more than kLongestWord
//   bytes without white space: long URLs, data URLs;
// * runs of more than kLongestUnspaced bytes without white space: code.
// Characters of scripts that write no spaces between words are in none of them.
// Takes time in proportion to the text.
std::vector<TextRange> FindLongWords(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LONG_WORDS_H_
