#include "engine/transformer/pooling.h"

#include <algorithm>
#include <cmath>

#include "engine/tensor/check.h"

namespace attend {

void Pooler::AddScaled(const float* row, float weight) {
  weights_ += weight;
  if (rows_ == 0) std::fill_n(dst_, width_, 0.0f);
  for (int j = 0; j < width_; ++j) dst_[j] += weight * row[j];
}

void Pooler::Add(const float* row, int position) {
  switch (pooling_) {
    case Pooling::kCls:
      if (rows_ == 0) std::copy_n(row, width_, dst_);
      break;
    case Pooling::kLast:
      std::copy_n(row, width_, dst_);
      break;
    case Pooling::kMax:
      if (rows_ == 0) std::copy_n(row, width_, dst_);
      for (int j = 0; j < width_; ++j) dst_[j] = std::max(dst_[j], row[j]);
      break;
    case Pooling::kMean:
    case Pooling::kMeanSqrtLength:
      AddScaled(row, 1);
      break;
    case Pooling::kWeightedMean:
      AddScaled(row, static_cast<float>(position + 1));
      break;
  }
  ++rows_;
}

void Pooler::Finish() {
  ATTEND_CHECK(rows_ > 0);
  if (weights_ == 0) return;
  const float scale =
      1 /
      (pooling_ == Pooling::kMeanSqrtLength ? std::sqrt(weights_) : weights_);
  for (int j = 0; j < width_; ++j) dst_[j] *= scale;
}

void Pool(const EncodeState& state, absl::Span<const Pooling> poolings,
          int first, int width, float* dst) {
  const absl::Span<const int> positions = state.tokens().positions;
  for (size_t i = 0; i < poolings.size(); ++i) {
    Pooler pooler(poolings[i], width, dst + i * width);
    for (int r = first; r < state.rows(); ++r) {
      pooler.Add(state.hidden(r, width),
                 positions.empty() ? r : positions[r] - positions[0]);
    }
    pooler.Finish();
  }
}

}  // namespace attend
