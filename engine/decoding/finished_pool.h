#ifndef ATTEND_ENGINE_DECODING_FINISHED_POOL_H_
#define ATTEND_ENGINE_DECODING_FINISHED_POOL_H_

#include <vector>

#include "engine/decoding/hypothesis.h"
#include "engine/decoding/search_input.h"

namespace attend {

// The best finished hypotheses of one beam search, best first. It has as many
// places as there are beams; some places may be empty. Not thread-safe. Nothing
// is allocated after construction.
class FinishedPool {
 public:
  explicit FinishedPool(const SearchInput& input);

  // Makes a place for a finished hypothesis of this score, at its rank; the
  // caller overwrites the old content of the place. Null if all hypotheses in
  // the full pool are at least as good.
  Hypothesis* Insert(float score);

  bool full() const { return size_ == places_.size(); }
  // The score of the worst place. An empty place is worse than any other.
  float worst_score() const;

  size_t size() const { return size_; }
  const Hypothesis& operator[](size_t rank) const { return places_[rank]; }
  auto begin() const { return places_.begin(); }
  auto end() const { return places_.begin() + size_; }

 private:
  std::vector<Hypothesis> places_;
  size_t size_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_FINISHED_POOL_H_
