#include "engine/checkpoint/scaled_rows.h"

#include <cstddef>
#include <utility>

#include "engine/tensor/check.h"

namespace attend {

ScaledRows::ScaledRows(absl::Span<const uint8_t> numbers,
                       std::vector<float> scales)
    : numbers_(numbers),
      scales_(std::move(scales)),
      cols_(static_cast<int>(numbers.size() / scales_.size())) {
  ATTEND_CHECK(numbers.size() == scales_.size() * cols_);
}

void ScaledRows::Read(int first, Matrix dst) const {
  for (int r = 0; r < dst.rows; ++r) {
    const float scale = scales_[first + r];
    const uint8_t* src = &numbers_[static_cast<size_t>(first + r) * cols_];
    float* row = dst.row(r);
    for (int col = 0; col < cols_; ++col) {
      row[col] = static_cast<float>(static_cast<int8_t>(src[col])) * scale;
    }
  }
}

}  // namespace attend
