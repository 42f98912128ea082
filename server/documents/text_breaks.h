#ifndef ATTEND_SERVER_DOCUMENTS_TEXT_BREAKS_H_
#define ATTEND_SERVER_DOCUMENTS_TEXT_BREAKS_H_

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

// The language of a code, as ISO 639 says it in the fewest letters: "en" of
// "en", "eng_Latn" and "en_XX"; "" of what is no code.
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

// Whether a text begins with a lower-case letter.
bool BeginsLower(absl::string_view text);
// Whether a text has a letter of any script.
bool HasLetter(absl::string_view text);
// A text whose letters have one case: equal for texts that differ in case only.
std::string FoldCase(absl::string_view text);
// The part of a range without the white space at its ends.
TextRange Trim(absl::string_view text, TextRange range);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_TEXT_BREAKS_H_
