#include "engine/checkpoint/lora/lora_rows.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "engine/tensor/check.h"

namespace attend {

LoraRows::LoraRows(TensorView base, bool turned,
                   std::shared_ptr<const LoraProduct> product)
    : base_(std::move(base)), turned_(turned), product_(std::move(product)) {
  ATTEND_CHECK(base_.shape.size() == 2);
  ATTEND_CHECK(base_.rows == nullptr || !turned);
}

int LoraRows::rows() const {
  return static_cast<int>(base_.shape[turned_ ? 1 : 0]);
}

int LoraRows::cols() const {
  return static_cast<int>(base_.shape[turned_ ? 0 : 1]);
}

void LoraRows::ReadBase(int row, float* dst) const {
  if (base_.rows != nullptr) return base_.rows->Read(row, {dst, 1, cols()});
  const size_t width = static_cast<size_t>(cols());
  const auto at = [&](size_t element) {
    return base_.bytes.data() + BytesOf(base_.type, element);
  };
  if (turned_ == base_.column_major) {
    return ToFloats(base_.type, at(row * width), {dst, width});
  }
  for (size_t col = 0; col < width; ++col) {
    ToFloats(base_.type, at(col * rows() + row), {dst + col, 1});
  }
}

void LoraRows::Read(int first, Matrix dst) const {
  const size_t width = static_cast<size_t>(cols());
  const size_t rank = static_cast<size_t>(product_->rank);
  std::vector<float> change(width);
  for (int i = 0; i < dst.rows; ++i) {
    ReadBase(first + i, dst.row(i));
    const float* left = product_->left.data() + (first + i) * rank;
    change.assign(width, 0.0f);
    for (size_t k = 0; k < rank; ++k) {
      const float* right = product_->right.data() + k * width;
      for (size_t col = 0; col < width; ++col) {
        change[col] += left[k] * right[col];
      }
    }
    for (size_t col = 0; col < width; ++col) dst.row(i)[col] += change[col];
  }
}

}  // namespace attend
