#include "server/documents/literals_text.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>

#include "absl/strings/ascii.h"

namespace attend {

FirstChar First(absl::string_view text) {
  if (text.empty()) return {};
  constexpr size_t kLongest = U8_MAX_LENGTH;
  UChar32 c;
  int at = 0;
  U8_NEXT(text.data(), at, static_cast<int>(std::min(text.size(), kLongest)),
          c);
  return {c < 0 ? 0xfffd : c, static_cast<size_t>(at)};
}

UChar32 Last(absl::string_view text) {
  size_t at = text.size();
  while (at > 0 && text.size() - at < U8_MAX_LENGTH) {
    if (!U8_IS_TRAIL(text[--at])) break;
  }
  return First(text.substr(at)).c;
}

bool IsWordChar(UChar32 c) {
  if (c < 0x80) return absl::ascii_isalnum(static_cast<char>(c)) || c == '_';
  return u_isalnum(c) || (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
}

bool IsUnspaced(UChar32 c) {
  if (c < 0x80 || !IsWordChar(c)) return false;
  switch (u_getIntPropertyValue(c, UCHAR_LINE_BREAK)) {
    case U_LB_IDEOGRAPHIC:
    case U_LB_CONDITIONAL_JAPANESE_STARTER:
    case U_LB_NONSTARTER:  // iteration marks of kana
    case U_LB_COMPLEX_CONTEXT:
    case U_LB_H2:
    case U_LB_H3:
    case U_LB_JL:
    case U_LB_JV:
    case U_LB_JT:
      return true;
    default:
      break;
  }
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(c, &error);
  switch (script) {
    case USCRIPT_BALINESE:
    case USCRIPT_BATAK:
    case USCRIPT_BUGINESE:
    case USCRIPT_JAVANESE:
    case USCRIPT_TIBETAN:
      return true;
    default:
      return uscript_breaksBetweenLetters(script);
  }
}

bool ContinuesWord(UChar32 c) { return IsWordChar(c) && !IsUnspaced(c); }

size_t NameSize(absl::string_view text, absl::string_view set) {
  size_t size = 0;
  while (size < std::min(text.size(), kLongestName)) {
    const FirstChar next = First(text.substr(size));
    const bool in_set =
        next.c < 0x80 && set.find(static_cast<char>(next.c)) != set.npos;
    if (!in_set && (next.c == '_' || !IsWordChar(next.c))) break;
    size += next.bytes;
  }
  return size;
}

}  // namespace attend
