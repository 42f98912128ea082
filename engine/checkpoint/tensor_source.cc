#include "engine/checkpoint/tensor_source.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace attend {

size_t TensorView::count() const {
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  return count;
}

std::string ShapeText(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace attend
