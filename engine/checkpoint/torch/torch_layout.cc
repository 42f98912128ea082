#include "engine/checkpoint/torch/torch_layout.h"

#include <algorithm>
#include <cstddef>

namespace attend {
namespace {

// A dimension of 1 may have any stride. The caller has checked that the
// product of the shape fits.
bool IsRowMajor(absl::Span<const int64_t> shape,
                absl::Span<const int64_t> strides) {
  int64_t expected = 1;
  for (size_t i = shape.size(); i > 0; --i) {
    if (shape[i - 1] == 1) continue;
    if (strides[i - 1] != expected) return false;
    expected *= shape[i - 1];
  }
  return true;
}

}  // namespace

TorchLayout LayoutOf(absl::Span<const int64_t> shape,
                     absl::Span<const int64_t> strides) {
  const bool empty = std::count(shape.begin(), shape.end(), 0) > 0;
  if (empty || IsRowMajor(shape, strides)) return TorchLayout::kRowMajor;
  if (shape.size() == 2 && strides[0] == 1 && strides[1] == shape[0]) {
    return TorchLayout::kColumnMajor;
  }
  return TorchLayout::kOther;
}

}  // namespace attend
