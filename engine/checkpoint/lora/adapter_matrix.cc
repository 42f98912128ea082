#include "engine/checkpoint/lora/adapter_matrix.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 30;

}  // namespace

absl::StatusOr<Buffer<float>> ReadAdapterMatrix(const TensorView& view) {
  const auto fits = [](int64_t side) { return side > 0 && side <= kMaxSide; };
  if (view.shape.size() != 2 || view.rows != nullptr || !fits(view.shape[0]) ||
      !fits(view.shape[1])) {
    return absl::InvalidArgumentError(absl::StrCat(
        view.place, " has shape ", ShapeText(view.shape),
        ", expected a matrix of 1 to ", kMaxSide, " rows and columns"));
  }
  if (FindNotFinite(view.type, view.bytes) != view.count()) {
    return absl::InvalidArgumentError(
        absl::StrCat(view.place, " holds values that are not finite"));
  }
  Buffer<float> stored(view.count());
  ToFloats(view.type, view.bytes.data(), {stored.data(), stored.size()});
  if (!view.column_major) return stored;
  const size_t rows = static_cast<size_t>(view.shape[0]);
  const size_t cols = static_cast<size_t>(view.shape[1]);
  Buffer<float> matrix(view.count());
  for (size_t i = 0; i < view.count(); ++i) {
    matrix[i % rows * cols + i / rows] = stored[i];
  }
  return matrix;
}

Buffer<float> Transposed(const Buffer<float>& matrix, size_t rows,
                         size_t cols) {
  Buffer<float> turned(matrix.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t col = 0; col < cols; ++col) {
      turned[col * rows + row] = matrix[row * cols + col];
    }
  }
  return turned;
}

}  // namespace attend
