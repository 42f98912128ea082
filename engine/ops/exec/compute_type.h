#ifndef ATTEND_ENGINE_OPS_EXEC_COMPUTE_TYPE_H_
#define ATTEND_ENGINE_OPS_EXEC_COMPUTE_TYPE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {

// The numbers that matmuls multiply, in whatever type the checkpoint has them.
// bf16 is the upper half of an f32; int8 has scales, see Operand.
enum class ComputeType { kF32, kBf16, kInt8 };

// The name: "f32", "bf16" or "int8".
constexpr absl::string_view TypeName(ComputeType type) {
  switch (type) {
    case ComputeType::kF32:
      return "f32";
    case ComputeType::kBf16:
      return "bf16";
    case ComputeType::kInt8:
      return "int8";
  }
  return "";
}

// INVALID_ARGUMENT lists the names.
inline absl::StatusOr<ComputeType> ParseComputeType(absl::string_view name) {
  for (const ComputeType type :
       {ComputeType::kF32, ComputeType::kBf16, ComputeType::kInt8}) {
    if (TypeName(type) == name) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name.substr(0, 100), "' is not f32, bf16 or int8"));
}

// Bytes of one number.
constexpr int BytesOf(ComputeType type) {
  return type == ComputeType::kF32 ? 4 : type == ComputeType::kBf16 ? 2 : 1;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_COMPUTE_TYPE_H_
