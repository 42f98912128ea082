#include "engine/checkpoint/tensor_source.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace attend {

std::string ShapeText(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace attend
