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
// bf16 is the upper half of an f32. The others are groups of numbers with a
// scale (number_group.h): weights have 8 bits in int8 and w8, and 4 in int4;
// operands have 8 bits in int8 and int4, and 16 in w8.
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

// Whether weights and operands are groups of numbers.
constexpr bool IsGrouped(ComputeType type) {
  return type != ComputeType::kF32 && type != ComputeType::kBf16;
}

// Bytes of one number of a type without groups; 0: it has groups.
constexpr int BytesOf(ComputeType type) {
  return type == ComputeType::kF32 ? 4 : type == ComputeType::kBf16 ? 2 : 0;
}

// Numbers of a group.
constexpr int GroupNumbers(ComputeType type) {
  return type == ComputeType::kInt8 ? Int8Group::kNumbers : kGroupNumbers;
}

// The groups of a row of `cols` numbers.
constexpr int GroupsOf(ComputeType type, int cols) {
  return (cols + GroupNumbers(type) - 1) / GroupNumbers(type);
}

// Bytes of a row of `cols` numbers, as an operand.
constexpr size_t OperandBytes(ComputeType type, int cols) {
  switch (type) {
    case ComputeType::kF32:
    case ComputeType::kBf16:
      return size_t{1} * cols * BytesOf(type);
    case ComputeType::kInt8:
      return Int8Row::BytesOf(cols);
    case ComputeType::kW8:
      return GroupsOf(type, cols) * sizeof(OperandGroup<8>);
    case ComputeType::kInt4:
      break;
  }
  return GroupsOf(type, cols) * sizeof(OperandGroup<4>);
}

// Bytes of the weights of 64 columns of `cols` numbers, packed.
constexpr size_t PackedBlockBytes(ComputeType type, int cols) {
  switch (type) {
    case ComputeType::kF32:
    case ComputeType::kBf16:
      return size_t{kGroupColumns} * cols * BytesOf(type);
    case ComputeType::kInt8:
      return Int8WeightGroup::BytesOf(cols);
    case ComputeType::kW8:
      return GroupsOf(type, cols) * WeightGroup<8>::kBytes;
    case ComputeType::kInt4:
      break;
  }
  return GroupsOf(type, cols) * WeightGroup<4>::kBytes;
}

// Upper bound of the bytes of that many weights, packed. Rows of int8 may end
// with a short group, so the bound has a header for each part.
constexpr uint64_t PackedBytes(ComputeType type, uint64_t numbers) {
  const int group =
      type == ComputeType::kInt8 ? Int8Row::kPart : GroupNumbers(type);
  return numbers * PackedBlockBytes(type, group) / (group * kGroupColumns);
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_COMPUTE_TYPE_H_
