#include "server/documents/text_breaks.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

#include "engine/tensor/check.h"
#include "server/documents/language_tag.h"

namespace attend {
namespace {

using Breaks = std::unique_ptr<icu::BreakIterator>;

// One iterator of each kind, to be cloned: making one takes long. Greek has
// marks of its own.
class AllBreaks {
 public:
  static const AllBreaks& Get() {
    static const auto& all = *new AllBreaks();
    return all;
  }
  Breaks NewSentences(absl::string_view code) const {
    return Breaks((BaseLanguage(code) == "el" ? greek_ : others_)->clone());
  }
  Breaks New(BreakKind kind) const {
    return Breaks((kind == BreakKind::kWord ? words_ : characters_)->clone());
  }

 private:
  using Factory = icu::BreakIterator* (*)(const icu::Locale&, UErrorCode&);

  // ICU's data comes with its library.
  static Breaks Make(Factory create, const char* language) {
    UErrorCode error = U_ZERO_ERROR;
    Breaks breaks(create(icu::Locale(language), error));
    ATTEND_CHECK(U_SUCCESS(error));
    return breaks;
  }

  const Breaks others_ = Make(icu::BreakIterator::createSentenceInstance, "");
  const Breaks greek_ = Make(icu::BreakIterator::createSentenceInstance, "el");
  const Breaks words_ = Make(icu::BreakIterator::createWordInstance, "");
  const Breaks characters_ =
      Make(icu::BreakIterator::createCharacterInstance, "");
};

// Lets an iterator go over a text, which must outlive the object.
class Utf8Breaks {
 public:
  Utf8Breaks(Breaks breaks, absl::string_view text)
      : breaks_(std::move(breaks)) {
    UErrorCode error = U_ZERO_ERROR;
    utext_openUTF8(&text_, text.data(), static_cast<int64_t>(text.size()),
                   &error);
    breaks_->setText(&text_, error);
    ATTEND_CHECK(U_SUCCESS(error));
    breaks_->first();
  }
  ~Utf8Breaks() { utext_close(&text_); }
  Utf8Breaks(const Utf8Breaks&) = delete;
  Utf8Breaks& operator=(const Utf8Breaks&) = delete;

  // The end of the next part; icu::BreakIterator::DONE: there is none.
  int Next() { return breaks_->next(); }
  // What kind of part ended there.
  int kind() const { return breaks_->getRuleStatus(); }

 private:
  UText text_ = UTEXT_INITIALIZER;
  Breaks breaks_;
};

UChar32 CharAt(absl::string_view text, int at) {
  UChar32 c;
  int next = at;
  U8_NEXT(text.data(), next, static_cast<int>(text.size()), c);
  return c;
}

// -1: there is none.
UChar32 LastOf(absl::string_view text) {
  int at = static_cast<int>(text.size());
  UChar32 c = -1;
  if (at > 0) U8_PREV(text.data(), 0, at, c);
  return c;
}

bool IsWhite(UChar32 c) { return u_isUWhiteSpace(c) || c == 0x200b; }

// A letter or a digit, or an accent on one.
bool IsWord(UChar32 c) {
  return c >= 0 && (u_isalnum(c) || u_charType(c) == U_NON_SPACING_MARK);
}

// The begin of the character that byte `at` belongs to.
int CharacterBegin(absl::string_view text, int at) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
  if (at < static_cast<int>(text.size())) U8_SET_CP_START(bytes, 0, at);
  return at;
}

icu::UnicodeString ToUnicode(absl::string_view text) {
  return icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

// NFC of a text whose case is folded, if wanted.
std::string Normalized(absl::string_view text, bool fold) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* const nfc = icu::Normalizer2::getNFCInstance(error);
  ATTEND_CHECK(U_SUCCESS(error));
  icu::UnicodeString composed = nfc->normalize(ToUnicode(text), error);
  if (fold) composed = nfc->normalize(composed.foldCase(), error);
  if (U_FAILURE(error)) return std::string(text);  // too long
  std::string utf8;
  composed.toUTF8String(utf8);
  return utf8;
}

}  // namespace

std::string BaseLanguage(absl::string_view code) {
  const std::optional<LanguageTag> tag = ReadLanguageTag(code);
  return tag ? tag->canonical : "";
}

std::string LanguageName(absl::string_view code) {
  const std::string base = BaseLanguage(code);
  std::string name;
  icu::UnicodeString display;
  icu::Locale(base.c_str())
      .getDisplayLanguage(icu::Locale::getEnglish(), display)
      .toUTF8String(name);
  return name.empty() || name == base ? std::string(code) : name;
}

bool BeginsLower(absl::string_view text) {
  return !text.empty() && u_islower(CharAt(text, 0));
}

TextRange Trim(absl::string_view text, TextRange range) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
  while (range.begin < range.end && IsWhite(CharAt(text, range.begin))) {
    U8_FWD_1(bytes, range.begin, range.end);
  }
  while (range.end > range.begin) {
    int last = range.end;
    U8_BACK_1(bytes, range.begin, last);
    if (!IsWhite(CharAt(text, last))) break;
    range.end = last;
  }
  return range;
}

std::vector<TextRange> Sentences(absl::string_view text,
                                 absl::string_view language) {
  std::vector<TextRange> sentences;
  Utf8Breaks breaks(AllBreaks::Get().NewSentences(language), text);
  int begin = 0;
  for (int end = breaks.Next(); end != icu::BreakIterator::DONE;
       end = breaks.Next()) {
    const TextRange sentence = Trim(text, {begin, end});
    if (sentence.size() > 0) sentences.push_back(sentence);
    begin = end;
  }
  return sentences;
}

std::vector<Word> Words(absl::string_view text) {
  Utf8Breaks parts(AllBreaks::Get().New(BreakKind::kWord), text);
  std::vector<Word> words;
  int begin = 0;
  for (int end = parts.Next(); end != icu::BreakIterator::DONE;
       end = parts.Next()) {
    const TextRange range = Trim(text, {begin, end});
    if (range.size() > 0) {
      words.push_back({range, parts.kind() < UBRK_WORD_NONE_LIMIT});
    }
    begin = end;
  }
  return words;
}

bool HasLetter(absl::string_view text) {
  const int size = static_cast<int>(text.size());
  for (int at = 0; at < size;) {
    UChar32 c;
    U8_NEXT(text.data(), at, size, c);
    if (c >= 0 && u_isalpha(c)) return true;
  }
  return false;
}

bool HasCapital(absl::string_view text) {
  const int size = static_cast<int>(text.size());
  for (int at = 0; at < size;) {
    UChar32 c;
    U8_NEXT(text.data(), at, size, c);
    if (c >= 0 && (u_isupper(c) || u_istitle(c))) return true;
  }
  return false;
}

std::string FoldCase(absl::string_view text) { return Normalized(text, true); }

std::string Compose(absl::string_view text) { return Normalized(text, false); }

int NearestBreak(absl::string_view text, int near, BreakKind kind) {
  constexpr int kAround = 256;
  const int size = static_cast<int>(text.size());
  const int begin = CharacterBegin(text, std::max(0, near - kAround));
  const int end = CharacterBegin(text, std::min(size, near + kAround));
  Utf8Breaks breaks(AllBreaks::Get().New(kind),
                    text.substr(begin, end - begin));
  int best = -1;
  // The ends of what is looked at are no breaks, or those of the text.
  for (int at = breaks.Next();
       at != icu::BreakIterator::DONE && begin + at < end; at = breaks.Next()) {
    const int place = begin + at;
    if (best >= 0 && std::abs(place - near) >= std::abs(best - near)) break;
    best = place;
  }
  return best;
}

bool IsLineBreak(int32_t character) {
  return (character >= '\n' && character <= '\r') || character == 0x85 ||
         character == 0x2028 || character == 0x2029;
}

bool HasLineBreak(absl::string_view text) {
  const int size = static_cast<int>(text.size());
  for (int at = 0; at < size;) {
    UChar32 c;
    U8_NEXT(text.data(), at, size, c);
    if (IsLineBreak(c)) return true;
  }
  return false;
}

bool BeginsLine(absl::string_view text, int at) {
  while (at > 0) {
    UChar32 c;
    U8_PREV(text.data(), 0, at, c);
    if (IsLineBreak(c)) return true;
    if (!IsWhite(c)) return false;
  }
  return true;
}

bool BeginsUpper(absl::string_view text) {
  if (text.empty()) return false;
  const UChar32 c = CharAt(text, 0);
  return u_isupper(c) || u_istitle(c);
}

bool BeginsWithWord(absl::string_view text) {
  return !text.empty() && IsWord(CharAt(text, 0));
}

bool EndsInWord(absl::string_view text) { return IsWord(LastOf(text)); }

bool EndsUpper(absl::string_view text) {
  const UChar32 c = LastOf(text);
  return c >= 0 && u_isupper(c);
}

bool EndsWithTerminator(absl::string_view text) {
  const UChar32 c = LastOf(text);
  return c >= 0 &&
         (u_hasBinaryProperty(c, UCHAR_S_TERM) || c == 0x2026 || c == 0x17d4);
}

absl::string_view WithoutClosers(absl::string_view text) {
  while (!text.empty()) {
    const UChar32 c = LastOf(text);
    const int32_t type = c < 0 ? 0 : u_charType(c);
    if (c != '"' && c != '\'' && type != U_END_PUNCTUATION &&
        type != U_FINAL_PUNCTUATION && type != U_INITIAL_PUNCTUATION) {
      break;
    }
    text.remove_suffix(U8_LENGTH(c));
  }
  return text;
}

}  // namespace attend
