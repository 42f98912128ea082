#ifndef ATTEND_SERVER_DOCUMENTS_LONG_SENTENCES_H_
#define ATTEND_SERVER_DOCUMENTS_LONG_SENTENCES_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/documents/text_breaks.h"

namespace attend {

// How many times a model's longest text a text is: it fits up to 1. Infinite:
// many times, nobody has counted.
using MeasureText = std::function<double(absl::string_view)>;

// Cuts a sentence until all parts fit, as near to the middle as it can: behind
// a comma, colon or the like; else between words, which scripts without spaces
// have as well; else between characters as readers see them. A literal (see
// FindLiterals()) is in one part, which may be too long. The parts are without
// the white space around them.
class SentenceCutter {
 public:
  // `text` and `measure` must outlive the cutter.
  SentenceCutter(absl::string_view text, TextRange sentence,
                 const MeasureText& measure);
  // The parts, in order. Nothing: there are no more.
  std::optional<TextRange> Next();

 private:
  struct Piece {
    TextRange range;
    double measure;  // about; infinite: not known
  };

  void FindLiteralsOfSentence();

  const absl::string_view text_;
  const TextRange sentence_;
  const MeasureText& measure_;
  // Literals of text_. Found once the sentence turns out to be too long.
  std::optional<std::vector<TextRange>> literals_;
  std::vector<Piece> left_;  // the next one last
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LONG_SENTENCES_H_
