#ifndef ATTEND_ENGINE_TENSOR_DTYPE_H_
#define ATTEND_ENGINE_TENSOR_DTYPE_H_

#include "absl/strings/string_view.h"

namespace attend {

// How numbers are kept for a computation or in a cache. bf16 is the upper half
// of an f32; int8 comes with scales.
enum class DType { kF32, kBf16, kInt8 };

// "f32", "bf16", "int8".
constexpr absl::string_view DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kBf16:
      return "bf16";
    case DType::kInt8:
      return "int8";
  }
  return "";
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_DTYPE_H_
