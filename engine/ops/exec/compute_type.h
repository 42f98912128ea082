#ifndef ATTEND_ENGINE_OPS_EXEC_COMPUTE_TYPE_H_
#define ATTEND_ENGINE_OPS_EXEC_COMPUTE_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/ops/exec/number_group.h"

namespace attend {

// The numbers that matmuls multiply, in whatever type the checkpoint has them.
// bf16 is the upper half of an f32; int8 has scales, see Operand. w8 and int4
// have weights in groups of 8 or 4 bits, and operands in groups of 16 or 8 bits
// (number_group.h).
enum class ComputeType { kF32, kBf16, kInt8, kW8, kInt4 };

inline constexpr ComputeType kAllComputeTypes[] = {
    ComputeType::kF32, ComputeType::kBf16, ComputeType::kInt8, ComputeType::kW8,
    ComputeType::kInt4};

// The name: "f32", "bf16", "int8", "w8" or "int4".
constexpr absl::string_view TypeName(ComputeType type) {
  switch (type) {
    case ComputeType::kF32:
      return "f32";
    case ComputeType::kBf16:
      return "bf16";
    case ComputeType::kInt8:
      return "int8";
    case ComputeType::kW8:
      return "w8";
    case ComputeType::kInt4:
      return "int4";
  }
  return "";
}

// INVALID_ARGUMENT lists the names.
inline absl::StatusOr<ComputeType> ParseComputeType(absl::string_view name) {
  for (const ComputeType type : kAllComputeTypes) {
    if (TypeName(type) == name) return type;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", name.substr(0, 100), "' is not f32, bf16, int8, w8 or int4"));
}

// Whether weights and operands are groups of numbers (number_group.h).
constexpr bool IsGrouped(ComputeType type) {
  return type == ComputeType::kW8 || type == ComputeType::kInt4;
}

// Bytes of one number of a type without groups.
constexpr int BytesOf(ComputeType type) {
  return type == ComputeType::kF32 ? 4 : type == ComputeType::kBf16 ? 2 : 1;
}

// Bytes of a row of `cols` numbers, as an operand.
constexpr size_t OperandBytes(ComputeType type, int cols) {
  if (!IsGrouped(type)) return size_t{1} * cols * BytesOf(type);
  return GroupsOf(cols) * (type == ComputeType::kW8 ? sizeof(OperandGroup<8>)
                                                    : sizeof(OperandGroup<4>));
}

// Bytes of weights of so many numbers, which are whole groups.
constexpr uint64_t PackedBytes(ComputeType type, uint64_t numbers) {
  if (!IsGrouped(type)) return numbers * BytesOf(type);
  const uint64_t group = type == ComputeType::kW8 ? WeightGroup<8>::kBytes
                                                  : WeightGroup<4>::kBytes;
  return numbers * group / (kGroupNumbers * kGroupColumns);
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_COMPUTE_TYPE_H_
