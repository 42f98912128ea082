#ifndef ATTEND_SERVER_DOCUMENTS_TARGET_UNITS_H_
#define ATTEND_SERVER_DOCUMENTS_TARGET_UNITS_H_

#include <string>
#include <utility>
#include <vector>

#include "server/documents/sentence.h"
#include "server/documents/text_breaks.h"

namespace attend {

// What a model made of a sentence.
struct TranslatedText {
  std::string text;
  // Which bytes the tokens stand for: of Sentence::text (empty: a special
  // token), and of `text`.
  std::vector<TextRange> source_tokens;
  std::vector<TextRange> target_tokens;
  // How much each target token was made from each source token; see
  // ChoiceOutput::alignment. Empty: not known.
  std::vector<float> weights;  // [target tokens, source tokens]
};

// The words and marks of a translation, and from which bytes of its sentence
// each of them was made.
class TargetUnits {
 public:
  struct Unit {
    std::string before = {};  // white space
    std::string text;
    bool mark = false;   // punctuation or a symbol
    bool raw = false;    // bytes of the document, not text
    bool fixed = false;  // the translation of a FixedTerm
    // By source token: how much of the unit was made from the tokens before it;
    // the last number is 1, or 0 if nothing is known.
    std::vector<float> made = {};  // [source tokens + 1]
  };

  explicit TargetUnits(const TranslatedText& from);

  int size() const { return static_cast<int>(units_.size()); }
  const Unit& operator[](int i) const { return units_[i]; }
  // The white space behind the last unit.
  const std::string& end() const { return end_; }

  // How much of a unit was made from bytes of the sentence, in [0, 1].
  float Made(int unit, TextRange source) const;
  // The units in `among` that were made from bytes of the sentence rather than
  // from others: the run with the highest sum of Made() - 1/2. If no unit was
  // made for the most part from them, the one that was made most. An empty
  // range at its begin if none was made from them at all.
  TextRange BestRun(TextRange source, TextRange among) const;
  // The place in [among.begin, among.end] that best divides what was made from
  // the bytes before `position` from what was made from the others.
  int BestPlace(int position, TextRange among) const;

  // Puts a term in the place of units, or between units if there are none.
  void Replace(TextRange units, const FixedTerm& term);
  void Remove(int unit);

 private:
  float MadeBefore(int unit, int position) const;

  std::vector<TextRange> source_tokens_;
  std::vector<int> ends_;  // of source tokens; a special one ends where the
                           // one before it does
  std::vector<Unit> units_;
  std::string end_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_TARGET_UNITS_H_
