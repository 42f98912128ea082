#ifndef ATTEND_ENGINE_DECODING_FORCE_WORDS_SEARCH_H_
#define ATTEND_ENGINE_DECODING_FORCE_WORDS_SEARCH_H_

#include <vector>

#include "engine/decoding/beam_search.h"
#include "engine/decoding/force_words.h"

namespace attend {

// Beam search for results that have all of some words: constrained beam search
// of transformers (removed in 5.0; here as in 4.55, _constrained_beam_search),
// for a batch of one. Beside the best continuations of its beams it looks at
// those that bring a word forward, and keeps the best of each degree of
// completeness. Only what has all words may end; what max_new_tokens cuts may
// lack some.
class ForceWordsSearch final : public BeamSearch {
 public:
  explicit ForceWordsSearch(const SearchInput& input);

 private:
  // A continuation, and what it has of the words.
  struct Scored {
    Candidate candidate;
    WordProgress progress;
    float rank = 0;  // by completeness, then by score
    int order = 0;   // of those of equal rank
    int place = 0;   // among those of the same completeness
  };

  void OnRow(int beam) override;
  bool MayFinish(const Candidate& candidate) const override;
  void KeepRunning() override;
  bool CanEnd() const override;
  void Finish() override;

  Scored ScoredOf(const Candidate& candidate) const;
  bool IsNew(const Candidate& candidate) const;
  // Puts the best of each degree of completeness first, then the second ones.
  void Arrange();
  bool IsDone() const;
  // Keeps the running beams that have all words, or those that have not.
  void KeepOpen(bool complete);

  const ForceWords words_;
  const bool stops_when_full_;
  std::vector<WordProgress> progress_;       // [beams]
  std::vector<WordProgress> next_progress_;  // [beams]
  std::vector<Candidate> forward_;  // continuations that bring words forward
  std::vector<int> next_tokens_;
  std::vector<Scored> scored_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_FORCE_WORDS_SEARCH_H_
