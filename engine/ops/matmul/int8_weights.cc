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

}  // namespace

void PackInt8(const void* row, int cols, int column, char* block) {
  const auto* codes = static_cast<const char*>(row);
  const auto* groups = Int8Row::GroupsOf<Int8Weights>(row, cols);
  for (; cols > 0; cols -= Int8Group::kNumbers, ++groups) {
    const int count = std::min(Int8Group::kNumbers, cols);
    // Exact: the scale is a bf16.
    const uint16_t scale =
        static_cast<uint16_t>(std::bit_cast<uint32_t>(groups->scale) >> 16);
    std::memcpy(block + sizeof(scale) * column, &scale, sizeof(scale));
    block[Weights::kZeros + column] = static_cast<char>(groups->zero);
    for (int i = 0; i < count; i += Weights::kUnitNumbers) {
      std::memcpy(block + Weights::ByteOf(column, i), codes + i,
                  Weights::kUnitNumbers);
    }
    codes += count;
    block += Weights::BytesOf(count);
  }
}

void AddInt8(const char* block, int column, absl::Span<float> dst) {
  for (size_t i = 0; i < dst.size(); i += Int8Group::kNumbers) {
    const int numbers =
        static_cast<int>(std::min<size_t>(Int8Group::kNumbers, dst.size() - i));
    uint16_t bits;
    std::memcpy(&bits, block + sizeof(bits) * column, sizeof(bits));
    const float scale = std::bit_cast<float>(uint32_t{bits} << 16);
    const int zero = static_cast<uint8_t>(block[Weights::kZeros + column]);
    for (int j = 0; j < numbers; ++j) {
      const int code = static_cast<uint8_t>(block[Weights::ByteOf(column, j)]);
      dst[i + j] += scale * static_cast<float>(code - zero);
    }
    block += Weights::BytesOf(numbers);
  }
}

}  // namespace attend
