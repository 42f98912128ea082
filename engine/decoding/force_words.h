#ifndef ATTEND_ENGINE_DECODING_FORCE_WORDS_H_
#define ATTEND_ENGINE_DECODING_FORCE_WORDS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/api/generation_limits.h"
#include "engine/api/generation_params.h"

namespace attend {

// How much of the words that a result has to have one hypothesis has. A word is
// begun and completed token by token; while one is begun, no other is. A word
// that does not go on is to be begun anew.
struct WordProgress {
  // Words that are neither complete nor begun, in the order in which a token is
  // tried with them.
  std::array<uint8_t, kForceWords.highest> pending = {};
  int num_pending = 0;
  int complete = 0;  // number of complete words
  int begun = -1;    // the word that is begun; -1: none
  // Of the word that is begun: its tokens so far, as the first `depth` of one
  // of its alternatives.
  int alternative = 0;
  int depth = 0;
};

// The words of a request; each has one alternative or several. As the
// constraints of transformers' constrained beam search (removed in 5.0; here as
// in 4.55), but that tokens of the prompt do not count, and that alternatives
// that begin alike keep what they have in common.
class ForceWords {
 public:
  // An alternative must not begin with another one of the same word.
  explicit ForceWords(const GenerationParams& params);

  // Of a result without tokens.
  WordProgress Begin() const;
  void Add(int token, WordProgress& progress) const;
  bool Complete(const WordProgress& progress) const {
    return progress.complete == static_cast<int>(words_.size());
  }
  // The more, the closer to completeness.
  int Bank(const WordProgress& progress) const;
  // Appends the tokens that bring the words forward, some maybe twice.
  void Next(const WordProgress& progress, std::vector<int>& tokens) const;

 private:
  using Word = std::vector<std::vector<int>>;  // alternatives

  // The first alternative of a word that continues the first `depth` tokens of
  // `alternative` with `token`; -1: none.
  static int Continue(const Word& word, int alternative, int depth, int token);
  static int Longest(const Word& word);
  // The word was begun, or goes on, with a token of this alternative.
  void Step(int word, int alternative, int depth, WordProgress& progress) const;

  std::vector<Word> words_;
  int longest_ = 0;  // tokens
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_FORCE_WORDS_H_
