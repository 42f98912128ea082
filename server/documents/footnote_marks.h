#ifndef ATTEND_SERVER_DOCUMENTS_FOOTNOTE_MARKS_H_
#define ATTEND_SERVER_DOCUMENTS_FOOTNOTE_MARKS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/text_breaks.h"

namespace attend {

// A mark that refers to a note: "[2]", "[a]", "[note 3]", "[^1]", "²", "†".
struct FootnoteMark {
  TextRange range;
  // It stands directly after the mark that ends a sentence, or after another
  // mark of that sentence: "runs.[2]", "runs.\"²", "runs.2".
  bool after_sentence = false;
  // It says something: "[citation needed]".
  bool has_words = false;
};

// The marks of notes in a text, in order, apart from each other. A mark follows
// a word or another mark without white space. Marks with words, symbols and
// digits without brackets count only after a sentence. `language`: a
// BaseLanguage(). Takes time in proportion to the text.
std::vector<FootnoteMark> FindFootnoteMarks(absl::string_view text,
                                            absl::string_view language);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_FOOTNOTE_MARKS_H_
