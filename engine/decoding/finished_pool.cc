#include "engine/decoding/finished_pool.h"

#include <utility>

namespace attend {

FinishedPool::FinishedPool(const SearchInput& input) {
  // Not copies of one hypothesis: a copy of a vector does not keep its
  // capacity.
  for (int beam = 0; beam < input.params.num_beams; ++beam) {
    places_.push_back(EmptyHypothesis(input));
  }
}

float FinishedPool::worst_score() const {
  return full() ? places_.back().score : kDeadBeam;
}

Hypothesis* FinishedPool::Insert(float score) {
  if (score < kDeadBeam) return nullptr;
  if (full() && !(score > places_.back().score)) return nullptr;
  if (!full()) ++size_;
  size_t rank = size_ - 1;
  for (; rank > 0 && score > places_[rank - 1].score; --rank) {
    std::swap(places_[rank], places_[rank - 1]);
  }
  places_[rank].score = score;
  return &places_[rank];
}

}  // namespace attend
