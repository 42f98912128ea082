#ifndef ATTEND_ENGINE_TENSOR_DTYPE_H_
#define ATTEND_ENGINE_TENSOR_DTYPE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
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

// INVALID_ARGUMENT lists the names.
inline absl::StatusOr<DType> ParseDType(absl::string_view name) {
  for (const DType dtype : {DType::kF32, DType::kBf16, DType::kInt8}) {
    if (DTypeName(dtype) == name) return dtype;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name.substr(0, 100), "' is not f32, bf16 or int8"));
}

// Bytes of one number.
constexpr int BytesOf(DType dtype) {
  return dtype == DType::kF32 ? 4 : dtype == DType::kBf16 ? 2 : 1;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_DTYPE_H_
