#include "engine/ops/matmul/int8_weights.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/ops/exec/number_group.h"

namespace attend {
namespace {

using Weights = Int8WeightGroup;

void PackGroup(const Operand& columns, int group, int numbers, char* packed) {
  for (int c = 0; c < columns.rows; ++c) {
    const Int8Group& from =
        static_cast<const Int8Group*>(columns.row(c))[group];
    // Exact: the scale is a bf16.
    const uint16_t scale =
        static_cast<uint16_t>(std::bit_cast<uint32_t>(from.scale) >> 16);
    std::memcpy(packed + sizeof(scale) * c, &scale, sizeof(scale));
    for (int i = 0; i < numbers; i += Weights::kUnitNumbers) {
      uint32_t codes;
      std::memcpy(&codes, from.codes + i, sizeof(codes));
      codes ^= 0x80808080u;  // 128 more
      std::memcpy(packed + Weights::ByteOf(c, i), &codes, sizeof(codes));
    }
  }
}

}  // namespace

void PackInt8(const Operand& columns, char* block) {
  for (int i = 0, group = 0; i < columns.cols;
       i += Int8Group::kNumbers, ++group) {
    const int numbers = std::min(Int8Group::kNumbers, columns.cols - i);
    PackGroup(columns, group, numbers, block);
    block += Weights::BytesOf(numbers);
  }
}

void ReadInt8(const char* block, int column, absl::Span<float> dst) {
  for (size_t i = 0; i < dst.size(); i += Int8Group::kNumbers) {
    const int numbers =
        static_cast<int>(std::min<size_t>(Int8Group::kNumbers, dst.size() - i));
    uint16_t bits;
    std::memcpy(&bits, block + sizeof(bits) * column, sizeof(bits));
    const float scale = std::bit_cast<float>(uint32_t{bits} << 16);
    for (int j = 0; j < numbers; ++j) {
      const int code =
          static_cast<uint8_t>(block[Weights::ByteOf(column, j)]) - 128;
      dst[i + j] = scale * static_cast<float>(code);
    }
    block += Weights::BytesOf(numbers);
  }
}

}  // namespace attend
