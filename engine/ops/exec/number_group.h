#ifndef ATTEND_ENGINE_OPS_EXEC_NUMBER_GROUP_H_
#define ATTEND_ENGINE_OPS_EXEC_NUMBER_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/tensor/four_bit_group.h"

namespace attend {

// Numbers in groups of a row, each with a scale of its own: a number is
// scale * code, plus a minimum if it has 4 bits, and scale * (code - zero) if
// it is a weight in int8. In w8 and int4 groups have 32 numbers (as ggml has
// them), and the last group of a row is filled up; in int8 they have 512, and
// the last may have fewer.

// Columns of packed weights that lie together.
inline constexpr int kGroupColumns = 64;

// The scale of a group of an operand in int8, a bf16, and NaN if an element is
// not finite; and the sum of its codes in two halves, as int8_kernel.cc
// multiplies it.
struct Int8Group {
  static constexpr int kNumbers = 512;
  static constexpr int kHighUnit = 128;

  Int8Group() = default;
  Int8Group(float group_scale, int sum)
      : scale(group_scale),
        negated_low(static_cast<int16_t>(-sum & (kHighUnit - 1))),
        negated_high(static_cast<int16_t>((-sum - negated_low) / kHighUnit)) {}

  int negated_sum() const { return negated_high * kHighUnit + negated_low; }

  float scale = 0;
  int16_t negated_low = 0;  // 0 to kHighUnit - 1
  int16_t negated_high = 0;
};

// The same of weights. The zero is the code of 0.
struct Int8Weights {
  float scale = 0;
  int32_t zero = 0;  // 0 to 255
};

// A row in int8: the codes of all groups, then the groups, in whole cache
// lines. Codes of operands are int8_t and those of weights uint8_t. The codes
// of an operand end with zeros, in whole parts.
struct Int8Row {
  static constexpr size_t kLine = 64;
  static constexpr int kPart = 128;  // codes

  static constexpr size_t CodeBytes(int cols) {
    return size_t{1} * (cols + kPart - 1) / kPart * kPart;
  }
  static constexpr size_t BytesOf(int cols) {
    const int groups = (cols + Int8Group::kNumbers - 1) / Int8Group::kNumbers;
    const size_t bytes = CodeBytes(cols) + groups * sizeof(Int8Group);
    return (bytes + kLine - 1) / kLine * kLine;
  }
  static int8_t* CodesOf(void* row, int group) {
    return static_cast<int8_t*>(row) + ptrdiff_t{group} * Int8Group::kNumbers;
  }
  static const int8_t* CodesOf(const void* row, int group) {
    return CodesOf(const_cast<void*>(row), group);
  }
  // The groups, Int8Group or Int8Weights, of a row of `cols` elements.
  template <typename Group = Int8Group>
  static Group* GroupsOf(void* row, int cols) {
    return reinterpret_cast<Group*>(static_cast<char*>(row) + CodeBytes(cols));
  }
  template <typename Group = Int8Group>
  static const Group* GroupsOf(const void* row, int cols) {
    return GroupsOf<Group>(const_cast<void*>(row), cols);
  }
};
static_assert(sizeof(Int8Weights) == sizeof(Int8Group));

// The groups of 64 columns of weights in int8, packed: the scales as bf16, the
// zeros in 8 bits, the codes. Codes 4i to 4i + 3 of all columns lie together. A
// short group ends with a whole step: the codes behind its numbers may be
// anything.
struct Int8WeightGroup {
  static constexpr size_t kZeros = sizeof(uint16_t) * kGroupColumns;
  static constexpr size_t kCodes = kZeros + kGroupColumns;
  static constexpr int kUnitNumbers = 4;
  static constexpr size_t kUnit = kUnitNumbers * kGroupColumns;
  static constexpr int kStepNumbers = 64;

  // The bytes of all groups of `numbers` numbers of 64 columns.
  static constexpr size_t BytesOf(int numbers) {
    const size_t groups =
        (numbers + Int8Group::kNumbers - 1) / Int8Group::kNumbers;
    const size_t steps = (numbers + kStepNumbers - 1) / kStepNumbers;
    return groups * kCodes + steps * kStepNumbers * kGroupColumns;
  }
  // The byte of code `i` of a column in its group.
  static constexpr size_t ByteOf(int column, int i) {
    return kCodes + i / kUnitNumbers * kUnit + kUnitNumbers * column +
           i % kUnitNumbers;
  }
};

// Of an operand that is multiplied by weights of kBits, in w8 or int4. The
// scale is NaN if a number is not finite. Beside weights of 4 bits, whose own
// errors are far larger, codes have 8 bits; beside weights of 8 bits they have
// 16, whose errors nobody sees.
template <int kBits>
struct OperandGroup {
  using Code = std::conditional_t<kBits == 8, int16_t, int8_t>;
  float scale = 0;
  int32_t sum = 0;  // of the codes
  Code codes[kGroupNumbers] = {};
};

// The groups of 64 columns in w8 and int4, packed: the scales as f16; the
// minimums as f16, of 4 bits only; the codes, without sign. Four bytes of a
// column lie together. Of 8 bits: codes 4i to 4i + 3 of all columns are part i
// of 8, in the order of kPlaces, so that even bytes are two neighbours, and odd
// bytes two. A code is 128 more than the number that it stands for. Of 4 bits:
// codes 4i to 4i + 3 are the low halves of part i of 4, and codes 16 + 4i to 16
// + 4i + 3 the high halves.
template <int kBits>
struct WeightGroup {
  static constexpr bool kHasMin = kBits == 4;
  static constexpr size_t kMins = sizeof(uint16_t) * kGroupColumns;
  static constexpr size_t kCodes = (kHasMin ? 2 : 1) * kMins;
  static constexpr size_t kPart = 4 * kGroupColumns;
  static constexpr int kParts = kBits;
  // Where in their four bytes the codes 4i + 0, 1, 2 and 3 are.
  static constexpr int kPlaces[4] = {0, kBits == 8 ? 2 : 1, kBits == 8 ? 1 : 2,
                                     3};
  static constexpr size_t kBytes = kCodes + kParts * kPart;

  // The byte of code `i` of a column.
  static constexpr size_t ByteOf(int column, int i) {
    const int at = i % (4 * kParts);
    return kCodes + at / 4 * kPart + 4 * column + kPlaces[at % 4];
  }
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_NUMBER_GROUP_H_
