#include "engine/checkpoint/lora/token_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/tensor/check.h"

namespace attend {

TokenRows::TokenRows(TensorView base,
                     std::shared_ptr<const TrainedTokens> trained)
    : base_(std::move(base)), trained_(std::move(trained)) {
  ATTEND_CHECK(base_.shape.size() == 2 && !base_.column_major);
}

void TokenRows::Read(int first, Matrix dst) const {
  const size_t width = static_cast<size_t>(cols());
  if (base_.rows != nullptr) {
    base_.rows->Read(first, dst);
  } else {
    ToFloats(base_.type,
             base_.bytes.data() + BytesOf(base_.type, first * width),
             {dst.data, dst.rows * width});
  }
  const auto& rows = trained_->rows;
  for (auto at = rows.lower_bound(first);
       at != rows.end() && at->first < first + dst.rows; ++at) {
    std::copy_n(trained_->values.data() + at->second * width, width,
                dst.row(at->first - first));
  }
}

}  // namespace attend
