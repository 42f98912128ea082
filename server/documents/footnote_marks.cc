#include "server/documents/footnote_marks.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "server/documents/abbreviations.h"

namespace attend {
namespace {

constexpr size_t kLongestMark = 48;    // bytes between brackets
constexpr size_t kLongestNumber = 16;  // "1", "2,3", "4\u20136"
constexpr size_t kLongestLetters = 3;  // "a", "iv"
constexpr size_t kLongestLabel = 24;   // of Markdown: "^name"
constexpr size_t kLongestWord = 64;    // before a raised number
constexpr size_t kLongestKind = 8;     // "note" of "note 3"

// Superscript digits and the signs that stand for numbers.
constexpr absl::string_view kSigns[] = {
    "\u00b9", "\u00b2", "\u00b3", "\u2070", "\u2074", "\u2075", "\u2076",
    "\u2077", "\u2078", "\u2079", "*",      "\u2020", "\u2021", "\u00a7"};

size_t SignSize(absl::string_view text) {
  for (const absl::string_view sign : kSigns) {
    if (absl::StartsWith(text, sign)) return sign.size();
  }
  return 0;
}

size_t CountDigits(absl::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(text[digits])) ++digits;
  return digits;
}

bool IsNumber(absl::string_view text) {
  return !text.empty() && text.size() <= kLongestNumber &&
         absl::ascii_isdigit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(c) ||
                  absl::StrContains(", -\xe2\x80\x93", c);
         });
}

// True if the content of brackets only names a note.
bool NamesNote(absl::string_view content) {
  if (IsNumber(content)) return true;
  if (SignSize(content) > 0) return SignSize(content) == content.size();
  if (absl::StartsWith(content, "^")) {
    return content.size() > 1 && content.size() <= kLongestLabel &&
           !absl::StrContains(content, ' ');
  }
  const bool letters = std::all_of(content.begin(), content.end(), [](char c) {
    return absl::ascii_islower(c);
  });
  if (letters) return content.size() <= kLongestLetters;
  const size_t space = content.find(' ');
  return space != content.npos && space <= kLongestKind &&
         IsNumber(content.substr(space + 1));
}

// The content of the brackets that a text begins with; empty: there are none,
// or they are those of a link.
absl::string_view BracketContent(absl::string_view text) {
  const size_t end = text.substr(0, kLongestMark + 2).find_first_of("[]\n", 1);
  if (end == text.npos || text[end] != ']') return "";
  const absl::string_view rest = text.substr(end + 1);
  if (absl::StartsWith(rest, "(") || absl::StartsWith(rest, ":")) return "";
  return absl::StripAsciiWhitespace(text.substr(1, end - 1));
}

// The number of digits at `at`, if they are the number of a note: the raised
// "2" of "runs.2 A dog" has lost its place. Not the one of "no.2", "3.2",
// "file.2".
size_t RaisedDigits(absl::string_view text, size_t at,
                    absl::string_view language) {
  if (!HasAbbreviations(language)) return 0;
  const size_t digits = CountDigits(text.substr(at, 4));
  if (digits == 0 || digits > 3 || text[at] == '0') return 0;
  const absl::string_view rest = text.substr(at + digits);
  if (!rest.empty()) {
    if (!absl::ascii_isspace(rest.front())) return 0;
    const absl::string_view next = absl::StripLeadingAsciiWhitespace(rest);
    if (!next.empty() && !BeginsUpper(next) &&
        !absl::StrContains("\"'([", next.front())) {
      return 0;
    }
  }
  absl::string_view before = WithoutClosers(text.substr(0, at));
  before.remove_prefix(before.size() - std::min(before.size(), kLongestWord));
  if (!absl::StrContains(".!?", before.back())) return 0;
  absl::string_view word = before.substr(0, before.size() - 1);
  if (word.size() < 2 || !absl::ascii_islower(word[word.size() - 1]) ||
      !absl::ascii_islower(word[word.size() - 2]) ||
      EndsWithAbbreviation(before, language)) {
    return 0;
  }
  // All of the word is letters.
  while (!word.empty() && (absl::ascii_isalpha(word.back()) ||
                           static_cast<unsigned char>(word.back()) >= 0x80)) {
    word.remove_suffix(1);
  }
  return word.empty() || absl::StrContains(" \t\n\r('\"-", word.back()) ? digits
                                                                        : 0;
}

// The number of bytes of the signs that a text begins with, if white space or
// another mark follows.
size_t SignsSize(absl::string_view text) {
  size_t size = 0;
  while (const size_t sign = SignSize(text.substr(size))) size += sign;
  const bool ends = size == text.size() || absl::ascii_isspace(text[size]) ||
                    text[size] == '[';
  return ends ? size : 0;
}

bool MayBegin(char c) {
  return c == '[' || c == '*' || absl::ascii_isdigit(c) || c == '\xc2' ||
         c == '\xe2';
}

// The mark at `at`; an empty range: there is none.
FootnoteMark MarkAt(absl::string_view text, size_t at, bool after_sentence,
                    absl::string_view language) {
  const absl::string_view rest = text.substr(at);
  size_t size = 0;
  bool has_words = false;
  if (rest.front() == '[') {
    const absl::string_view content = BracketContent(rest);
    if (content.empty()) return {};
    size = static_cast<size_t>(content.data() - rest.data()) + content.size();
    size = rest.find(']', size) + 1;
    has_words = !NamesNote(content);
    if (has_words && !(after_sentence && HasLetter(content))) return {};
  } else if (after_sentence) {
    size = SignsSize(rest);
    if (size == 0) size = RaisedDigits(text, at, language);
  }
  const int begin = static_cast<int>(at);
  return {.range = {begin, begin + static_cast<int>(size)},
          .after_sentence = after_sentence,
          .has_words = has_words};
}

}  // namespace

std::vector<FootnoteMark> FindFootnoteMarks(absl::string_view text,
                                            absl::string_view language) {
  std::vector<FootnoteMark> marks;
  for (size_t at = 1; at < text.size(); ++at) {
    if (!MayBegin(text[at])) continue;
    const bool next_to_mark =
        !marks.empty() && marks.back().range.end == static_cast<int>(at);
    const absl::string_view before = text.substr(0, at);
    const bool after_sentence =
        next_to_mark ? marks.back().after_sentence
                     : EndsWithTerminator(WithoutClosers(before));
    if (!next_to_mark && !after_sentence && !EndsInWord(before)) continue;
    const FootnoteMark mark = MarkAt(text, at, after_sentence, language);
    if (mark.range.size() == 0) continue;
    marks.push_back(mark);
    at = static_cast<size_t>(mark.range.end) - 1;
  }
  return marks;
}

}  // namespace attend
