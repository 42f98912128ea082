#ifndef ATTEND_ENGINE_DECODING_FINISHED_POOL_H_
#define ATTEND_ENGINE_DECODING_FINISHED_POOL_H_

#include <vector>

#include "engine/api/generation_params.h"
#include "engine/decoding/hypothesis.h"

namespace attend {

// The best finished hypotheses of one beam search, best first; as many places
// as beams, some of them empty. Not thread-safe; allocates only when made.
class FinishedPool {
 public:
  explicit FinishedPool(const GenerationParams& params);

  // A place for a finished hypothesis of this score, at its rank, whose old
  // content is to be overwritten; null if those kept are all at least as good.
  Hypothesis* Insert(float score);

  bool full() const { return size_ == places_.size(); }
  // Of the worst; that of an empty place if there is one.
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
