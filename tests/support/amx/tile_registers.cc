#include "tests/support/amx/tile_registers.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace attend {
namespace {

constexpr int kWord = 4;  // bytes of an element of a sum

template <typename Left, typename Right>
int32_t DotBytes(const uint8_t* left, const uint8_t* right) {
  int32_t sum = 0;
  for (int i = 0; i < kWord; ++i) {
    sum += int32_t{static_cast<Left>(left[i])} *
           int32_t{static_cast<Right>(right[i])};
  }
  return sum;
}

float ReadBf16(const uint8_t* at) {
  uint16_t upper;
  std::memcpy(&upper, at, sizeof(upper));
  return std::bit_cast<float>(uint32_t{upper} << 16);
}

template <typename Sum>
void AddTo(uint8_t* at, Sum value) {
  Sum sum;
  std::memcpy(&sum, at, sizeof(sum));
  sum += value;
  std::memcpy(at, &sum, sizeof(sum));
}

}  // namespace

void TileRegisters::LoadConfig(const char* config) {
  constexpr ptrdiff_t kBytes = 16;
  constexpr ptrdiff_t kRows = 48;
  for (int t = 0; t < kTiles; ++t) {
    uint16_t bytes;
    std::memcpy(&bytes, config + kBytes + t * sizeof(bytes), sizeof(bytes));
    tiles_[t] = {.rows = static_cast<uint8_t>(config[kRows + t]),
                 .bytes = bytes};
  }
}

void TileRegisters::Dot(const TileInstruction& instruction) {
  Tile& dst = tiles_[instruction.dst];
  const Tile& left = tiles_[instruction.left];
  const Tile& right = tiles_[instruction.right];
  for (int m = 0; m < dst.rows; ++m) {
    for (int n = 0; n < dst.bytes; n += kWord) {
      int32_t sum = 0;
      // Elements with an even and with an odd index have sums of their own.
      float even = 0;
      float odd = 0;
      for (int k = 0; k < left.bytes; k += kWord) {
        const uint8_t* const a = left.data[m] + k;
        const uint8_t* const b = right.data[k / kWord] + n;
        switch (instruction.op) {
          case TileOp::kDotSignedUnsigned:
            sum += DotBytes<int8_t, uint8_t>(a, b);
            break;
          case TileOp::kDotUnsignedSigned:
            sum += DotBytes<uint8_t, int8_t>(a, b);
            break;
          case TileOp::kDotUnsigned:
            sum += DotBytes<uint8_t, uint8_t>(a, b);
            break;
          default:
            even += ReadBf16(a) * ReadBf16(b);
            odd += ReadBf16(a + kWord / 2) * ReadBf16(b + kWord / 2);
        }
      }
      if (instruction.op == TileOp::kDotBf16) {
        AddTo(dst.data[m] + n, even + odd);
      } else {
        AddTo(dst.data[m] + n, sum);
      }
    }
  }
}

void TileRegisters::Execute(const TileInstruction& instruction) {
  Tile& tile = tiles_[instruction.dst];
  switch (instruction.op) {
    case TileOp::kLoadConfig:
      return LoadConfig(instruction.memory);
    case TileOp::kRelease:
      for (Tile& each : tiles_) each = {};
      return;
    case TileOp::kZero:
      std::memset(tile.data, 0, sizeof(tile.data));
      return;
    case TileOp::kLoad:
      std::memset(tile.data, 0, sizeof(tile.data));
      for (int r = 0; r < tile.rows; ++r) {
        std::memcpy(tile.data[r], instruction.memory + r * instruction.stride,
                    tile.bytes);
      }
      return;
    case TileOp::kStore:
      for (int r = 0; r < tile.rows; ++r) {
        std::memcpy(instruction.memory + r * instruction.stride, tile.data[r],
                    tile.bytes);
      }
      return;
    default:
      return Dot(instruction);
  }
}

}  // namespace attend
