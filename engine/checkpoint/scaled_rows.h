#ifndef ATTEND_ENGINE_CHECKPOINT_SCALED_ROWS_H_
#define ATTEND_ENGINE_CHECKPOINT_SCALED_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// A matrix of int8 numbers, each times the scale of its row. Const; any thread
// may read.
class ScaledRows final : public RowSource {
 public:
  // `numbers` [rows, cols] outlive this. There is a finite scale for each row.
  ScaledRows(absl::Span<const uint8_t> numbers, std::vector<float> scales);

  int rows() const override { return static_cast<int>(scales_.size()); }
  int cols() const override { return cols_; }
  void Read(int first, Matrix dst) const override;

 private:
  const absl::Span<const uint8_t> numbers_;
  const std::vector<float> scales_;
  const int cols_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_SCALED_ROWS_H_
