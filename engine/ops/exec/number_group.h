#ifndef ATTEND_ENGINE_OPS_EXEC_NUMBER_GROUP_H_
#define ATTEND_ENGINE_OPS_EXEC_NUMBER_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/tensor/four_bit_group.h"

namespace attend {

// Numbers in groups of 32 of a row, each with a scale of its own (as ggml has
// them): a number is scale * code, plus a minimum if it has 4 bits. The last
// group of a row is filled up.

constexpr int GroupsOf(int numbers) {
  return (numbers + kGroupNumbers - 1) / kGroupNumbers;
}

// Of an operand that is multiplied by weights of kBits. The scale is NaN if a
// number is not finite. Beside weights of 4 bits, whose own errors are far
// larger, codes have 8 bits; beside weights of 8 bits they have 16, whose
// errors nobody sees.
template <int kBits>
struct OperandGroup {
  using Code = std::conditional_t<kBits == 8, int16_t, int8_t>;
  float scale = 0;
  int32_t sum = 0;  // of the codes
  Code codes[kGroupNumbers] = {};
};

// Columns of packed weights that lie together.
inline constexpr int kGroupColumns = 64;

// The groups of 64 columns, packed: the scales as f16; the minimums as f16, of
// 4 bits only; the codes, without sign. Four bytes of a column lie together. Of
// 8 bits: codes 4i to 4i + 3 of all columns are part i of 8, in the order of
// kPlaces, so that even bytes are two neighbours, and odd bytes two. A code is
// 128 more than the number that it stands for. Of 4 bits: codes 4i to 4i + 3
// are the low halves of part i of 4, and codes 16 + 4i to 16 + 4i + 3 the high
// halves.
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
