#include "engine/transformer/sparse.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace attend {
namespace {

float Damped(const SparseSpec& spec, float weight) {
  for (int i = 0; i < spec.logs; ++i) weight = std::log1p(weight);
  return weight;
}

}  // namespace

void FoldLogits(const SparseSpec& spec, absl::Span<const float> logits,
                absl::Span<float> weights) {
  if (!spec.sums) {
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = std::max(weights[i], logits[i]);
    }
    return;
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    if (logits[i] > 0) weights[i] += Damped(spec, logits[i]);
  }
}

void FinishWeights(const SparseSpec& spec, absl::Span<float> weights) {
  if (spec.sums) return;
  // The greatest logit has the greatest weight.
  for (float& weight : weights) {
    if (weight > 0) weight = Damped(spec, weight);
  }
}

}  // namespace attend
