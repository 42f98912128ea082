#ifndef ATTEND_ENGINE_TRANSFORMER_POOLING_H_
#define ATTEND_ENGINE_TRANSFORMER_POOLING_H_

#include "absl/types/span.h"
#include "engine/transformer/encode_state.h"
#include "engine/transformer/spec.h"

namespace attend {

// Makes one vector of the vectors of a source's tokens, which come one after
// the other and need not stay in memory.
class Pooler {
 public:
  // `dst` [width] must outlive the pooler, and holds sums until Finish().
  Pooler(Pooling pooling, int width, float* dst)
      : pooling_(pooling), width_(width), dst_(dst) {}

  // `row` is [width]. `position`: that of the token, from the first token on,
  // masked ones included; for kWeightedMean.
  void Add(const float* row, int position);
  // At least one row must have been added.
  void Finish();

 private:
  void AddScaled(const float* row, float weight);

  const Pooling pooling_;
  const int width_;
  float* const dst_;  // [width]
  int rows_ = 0;
  float weights_ = 0;  // the sum of the rows' weights
};

// Pools the rows [first, state.rows()) of an encoded source, of which there is
// at least one, into dst [poolings.size() * width], one pooling after the
// other.
void Pool(const EncodeState& state, absl::Span<const Pooling> poolings,
          int first, int width, float* dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_POOLING_H_
