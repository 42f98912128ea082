#include "server/documents/text_breaks.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "engine/tensor/check.h"

namespace attend {
namespace {

using Breaks = std::unique_ptr<icu::BreakIterator>;

// One iterator of each language that has marks of its own, to be cloned: making
// one takes long.
class SentenceBreaks {
 public:
  static const SentenceBreaks& Get() {
    static const auto& all = *new SentenceBreaks();
    return all;
  }
  Breaks New(absl::string_view code) const {
    return Breaks((BaseLanguage(code) == "el" ? greek_ : others_)->clone());
  }

 private:
  // ICU's data comes with its library.
  static Breaks Make(const char* language) {
    UErrorCode error = U_ZERO_ERROR;
    Breaks breaks(icu::BreakIterator::createSentenceInstance(
        icu::Locale(language), error));
    ATTEND_CHECK(U_SUCCESS(error));
    return breaks;
  }

  const Breaks others_ = Make("");
  const Breaks greek_ = Make("el");
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

bool IsWhite(UChar32 c) { return u_isUWhiteSpace(c) || c == 0x200b; }

}  // namespace

std::string BaseLanguage(absl::string_view code) {
  // Longer ones are none.
  constexpr size_t kLongest = 8;
  const size_t end = std::min(code.size(), code.find_first_of("_-"));
  if (end > kLongest) return "";
  return icu::Locale(std::string(code.substr(0, end)).c_str()).getLanguage();
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
  Utf8Breaks breaks(SentenceBreaks::Get().New(language), text);
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
  UErrorCode error = U_ZERO_ERROR;
  Breaks breaks(
      icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), error));
  ATTEND_CHECK(U_SUCCESS(error));
  Utf8Breaks parts(std::move(breaks), text);
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

std::string FoldCase(absl::string_view text) {
  std::string folded;
  icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())))
      .foldCase()
      .toUTF8String(folded);
  return folded;
}

}  // namespace attend
