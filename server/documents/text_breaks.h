#ifndef ATTEND_SERVER_DOCUMENTS_TEXT_BREAKS_H_
#define ATTEND_SERVER_DOCUMENTS_TEXT_BREAKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// Bytes [begin, end) of a text.
struct TextRange {
  int begin = 0;
  int end = 0;

  int size() const { return end - begin; }
};

// Where sentences and words end, as Unicode (annexes 14 and 29) and ICU's data
// of a language say. All texts are UTF-8. Thread-safe.

// The language of a code (see LanguageTag::canonical): "en" of "en", "eng_Latn"
// and "en_XX", "ar" of "arb_Arab"; "" of a text that is no code.
std::string BaseLanguage(absl::string_view code);

// Its English name: "English"; the code itself if it has none.
std::string LanguageName(absl::string_view code);

// The sentences of a text, without the white space around them, in order. A
// line break ends a sentence, and so may the full stop of an abbreviation.
// `language`: a code as models spell it. Codes of languages that ICU has no
// rules for, and an empty one, mean rules that hold for all languages.
std::vector<TextRange> Sentences(absl::string_view text,
                                 absl::string_view language);

// The words and marks of a text, in order; what is between them is white space.
struct Word {
  TextRange range;
  bool mark = false;  // punctuation or a symbol: no letters, no digits
};
std::vector<Word> Words(absl::string_view text);

// A place in a text between two words, or between two characters as readers see
// them (grapheme clusters): the one nearest to `near`, but neither the begin
// nor the end of the text. Words of scripts without spaces are found by ICU's
// dictionaries. Looks at some hundred bytes around `near`. -1: there is none.
enum class BreakKind { kWord, kCharacter };
int NearestBreak(absl::string_view text, int near, BreakKind kind);

// Whether a character ends a line: those of Unicode's annex 14 that have to
// (line feeds, form feeds, line separators, ...).
bool IsLineBreak(int32_t character);
bool HasLineBreak(absl::string_view text);
// Whether only white space is between a place and the begin of its line.
bool BeginsLine(absl::string_view text, int at);

// Whether a text begins with a lower-case letter, or with a capital.
bool BeginsLower(absl::string_view text);
bool BeginsUpper(absl::string_view text);
// Whether a text begins, or ends, with a letter or a digit.
bool BeginsWithWord(absl::string_view text);
bool EndsInWord(absl::string_view text);
// Whether a text ends with a capital.
bool EndsUpper(absl::string_view text);
// Whether a text ends with a mark that may end a sentence: ".", "?", U+3002.
bool EndsWithTerminator(absl::string_view text);
// A text without the quotation marks and closing brackets at its end.
absl::string_view WithoutClosers(absl::string_view text);
// Whether a text has a letter of any script.
bool HasLetter(absl::string_view text);
bool HasCapital(absl::string_view text);
// A text whose letters have one case and one form of their accents (NFC): equal
// for texts that differ in case, or are canonically equivalent.
std::string FoldCase(absl::string_view text);
// A text in Unicode's normal form NFC.
std::string Compose(absl::string_view text);
// The part of a range without the white space at its ends.
TextRange Trim(absl::string_view text, TextRange range);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_TEXT_BREAKS_H_
