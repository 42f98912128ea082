#include "server/documents/hidden_characters.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace attend {
namespace {

constexpr UChar32 kNonJoiner = 0x200c;
constexpr UChar32 kJoiner = 0x200d;
constexpr UChar32 kEmojiStyle = 0xfe0f;  // the emoji before it is a picture

// Scripts in which ZWJ and ZWNJ say nothing about letters.
constexpr UScriptCode kUnjoined[] = {
    USCRIPT_COMMON,   USCRIPT_LATIN,    USCRIPT_GREEK,    USCRIPT_CYRILLIC,
    USCRIPT_ARMENIAN, USCRIPT_GEORGIAN, USCRIPT_HEBREW,   USCRIPT_HAN,
    USCRIPT_HIRAGANA, USCRIPT_KATAKANA, USCRIPT_HANGUL,   USCRIPT_BOPOMOFO,
    USCRIPT_THAI,     USCRIPT_LAO,      USCRIPT_ETHIOPIC, USCRIPT_CHEROKEE};

UChar32 FirstCharacter(absl::string_view text) {
  int at = 0;
  UChar32 c = -1;
  if (!text.empty()) {
    U8_NEXT(text.data(), at, static_cast<int>(text.size()), c);
  }
  return c;
}

// A mark without a script has that of the letter before it.
bool IsInheritingMark(UChar32 c) {
  UErrorCode error = U_ZERO_ERROR;
  return u_charType(c) == U_NON_SPACING_MARK && c != kEmojiStyle &&
         uscript_getScript(c, &error) == USCRIPT_INHERITED;
}

// The last character that is no such mark, of the last few.
UChar32 LastCharacter(absl::string_view text) {
  constexpr int kMostMarks = 8;
  int at = static_cast<int>(text.size());
  UChar32 c = -1;
  for (int i = 0; i < kMostMarks && at > 0; ++i) {
    U8_PREV(text.data(), 0, at, c);
    if (c < 0 || !IsInheritingMark(c)) break;
  }
  return c;
}

// True if a joiner or non-joiner next to the character says something.
bool Joins(UChar32 c) {
  if (c < 0) return false;
  if (u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC) ||
      u_hasBinaryProperty(c, UCHAR_EMOJI_MODIFIER) || c == kEmojiStyle) {
    return true;
  }
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(c, &error);
  return script != USCRIPT_INHERITED &&
         std::find(std::begin(kUnjoined), std::end(kUnjoined), script) ==
             std::end(kUnjoined);
}

bool IsHidden(UChar32 c) {
  return c == 0xad || c == 0x34f || c == 0x61c || c == 0x180e || c == 0x200b ||
         c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x2064) || (c >= 0x2066 && c <= 0x206f) ||
         c == 0xfeff;
}

// By the first byte of a character.
constexpr std::array<bool, 256> kMayBeHidden = [] {
  std::array<bool, 256> may = {};
  for (const int byte : {0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xef}) may[byte] = true;
  return may;
}();

}  // namespace

int HiddenSize(absl::string_view before, absl::string_view text) {
  int size = 0;
  UChar32 c;
  if (text.empty()) return 0;
  U8_NEXT(text.data(), size, static_cast<int>(text.size()), c);
  if (IsHidden(c)) return size;
  if (c != kJoiner && c != kNonJoiner) return 0;
  const bool joins =
      Joins(LastCharacter(before)) || Joins(FirstCharacter(text.substr(size)));
  return joins ? 0 : size;
}

int FindMaybeHidden(absl::string_view text, int at) {
  const auto found = std::find_if(text.begin() + at, text.end(), [](char c) {
    return kMayBeHidden[static_cast<unsigned char>(c)];
  });
  return static_cast<int>(found - text.begin());
}

std::string WithoutHidden(absl::string_view text) {
  std::string shown;
  for (int at = 0; at < static_cast<int>(text.size());) {
    const int hidden = HiddenSize(shown, text.substr(at));
    if (hidden == 0) {
      shown += text[at++];
    } else {
      at += hidden;
    }
  }
  return shown;
}

}  // namespace attend
