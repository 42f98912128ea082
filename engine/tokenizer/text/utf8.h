#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_UTF8_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// U+FFFD, and SentencePiece's mark of a space, U+2581.
inline constexpr absl::string_view kReplacement = "\xef\xbf\xbd";
inline constexpr absl::string_view kSpaceMark = "\xe2\x96\x81";

// What the bytes at the start of `text` (not empty) are.
struct Utf8Char {
  int length = 0;           // bytes; 0: not a character
  bool incomplete = false;  // could become one if more bytes followed
  // If it is not a character: bytes that one could begin with, at least 1.
  int broken = 0;
};
// Shortest forms only, no surrogates, nothing above U+10FFFF.
Utf8Char FirstUtf8Char(absl::string_view text);

// Offset of the first byte that is not part of a character, or npos.
size_t FindInvalidUtf8(absl::string_view text);

// Whether `character` is one that Python's str.strip() takes off.
bool IsSpace(absl::string_view character);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_UTF8_H_
