#ifndef ATTEND_ENGINE_JSON_UTF8_H_
#define ATTEND_ENGINE_JSON_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The first character of a text.
struct Utf8Char {
  int length = 0;           // bytes of the character; 0: not a character
  bool incomplete = false;  // more bytes could make it a character
  // If it is not a character: the number of bytes, at least 1, of the longest
  // valid beginning of a character.
  int broken = 0;
};
// Decodes the first character of `text`, which must not be empty. A character
// has its shortest form, is not a surrogate, and is at most U+10FFFF.
Utf8Char FirstUtf8Char(absl::string_view text);

// Offset of the first byte that is not part of a character, or npos.
size_t FindInvalidUtf8(absl::string_view text);

// U+FFFD.
inline constexpr absl::string_view kReplacement = "\xef\xbf\xbd";
// `text`, with U+FFFD for each byte that is not part of a character. Protobuf's
// receivers refuse a whole message for one string that is not UTF-8.
std::string ReplaceInvalidUtf8(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_UTF8_H_
