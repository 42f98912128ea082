#include "tests/support/amx/tile_instruction.h"

#include <cstring>

namespace attend {
namespace {

// The mandatory prefix that a VEX prefix stands for.
enum Prefix { kNone, k66, kF3, kF2 };

struct Vex {
  bool index_high = false;  // upper bits of register numbers
  bool base_high = false;
  int source = 0;  // VEX.vvvv
  Prefix prefix = kNone;
};

// The three-byte form with opcode map 0F38 and 128 bits, which AMX has.
std::optional<Vex> DecodeVex(const uint8_t* code) {
  constexpr int kMap0F38 = 2;
  if (code[0] != 0xc4 || (code[1] & 0x1f) != kMap0F38) return std::nullopt;
  if ((code[2] & 0x84) != 0) return std::nullopt;  // W, L
  return Vex{.index_high = (code[1] & 0x40) == 0,
             .base_high = (code[1] & 0x20) == 0,
             .source = ~code[2] >> 3 & 0xf,
             .prefix = static_cast<Prefix>(code[2] & 3)};
}

std::optional<TileOp> OpOf(int opcode, Prefix prefix, bool has_memory) {
  switch (opcode) {
    case 0x49:
      if (prefix == kNone) {
        return has_memory ? TileOp::kLoadConfig : TileOp::kRelease;
      }
      if (prefix == kF2 && !has_memory) return TileOp::kZero;
      break;
    case 0x4b:
      if (prefix == kF2 && has_memory) return TileOp::kLoad;
      if (prefix == kF3 && has_memory) return TileOp::kStore;
      break;
    case 0x5c:
      if (prefix == kF3 && !has_memory) return TileOp::kDotBf16;
      break;
    case 0x5e:
      if (has_memory) break;
      if (prefix == kF3) return TileOp::kDotSignedUnsigned;
      if (prefix == k66) return TileOp::kDotUnsignedSigned;
      if (prefix == kNone) return TileOp::kDotUnsigned;
      break;
  }
  return std::nullopt;
}

// A memory operand.
struct Address {
  uint64_t base = 0;  // with the displacement
  uint64_t index = 0;
  int scale = 1;
  int size = 0;  // bytes from ModR/M on
};

template <typename Displacement>
uint64_t ReadDisplacement(const uint8_t* at) {
  Displacement value;
  std::memcpy(&value, at, sizeof(value));
  return static_cast<uint64_t>(int64_t{value});
}

Address DecodeAddress(const uint8_t* modrm, const Vex& vex,
                      const GeneralRegisters& registers) {
  constexpr int kSibFollows = 4;
  constexpr int kNoIndex = 4;
  constexpr int kNoBase = 5;
  const int mode = *modrm >> 6;
  int base = *modrm & 7;
  Address address{.size = 1};
  const bool has_sib = base == kSibFollows;
  if (has_sib) {
    const int sib = modrm[address.size++];
    const int index = (sib >> 3 & 7) | (vex.index_high ? 8 : 0);
    if (index != kNoIndex) address.index = registers[index];
    address.scale = 1 << (sib >> 6);
    base = sib & 7;
  }
  const bool has_base = base != kNoBase || mode != 0;
  const uint8_t* const displacement = modrm + address.size;
  if (has_base) address.base = registers[base | (vex.base_high ? 8 : 0)];
  if (mode == 1) {
    address.base += ReadDisplacement<int8_t>(displacement);
    address.size += 1;
  } else if (mode == 2 || !has_base) {
    address.base += ReadDisplacement<int32_t>(displacement);
    address.size += 4;
    // Without a base and an SIB byte: relative to the next instruction.
    if (!has_base && !has_sib) {
      address.base += reinterpret_cast<uint64_t>(modrm + address.size);
    }
  }
  return address;
}

}  // namespace

std::optional<TileInstruction> DecodeTileInstruction(
    const uint8_t* code, const GeneralRegisters& registers) {
  constexpr int kModRm = 4;  // offset
  const std::optional<Vex> vex = DecodeVex(code);
  if (!vex.has_value()) return std::nullopt;
  const uint8_t modrm = code[kModRm];
  const bool has_memory = modrm >> 6 != 3;
  const auto op = OpOf(code[kModRm - 1], vex->prefix, has_memory);
  if (!op.has_value()) return std::nullopt;
  TileInstruction decoded{.op = *op,
                          .size = kModRm + 1,
                          .dst = modrm >> 3 & 7,
                          .left = modrm & 7,
                          .right = vex->source};
  if (!has_memory) return decoded;
  const Address address = DecodeAddress(code + kModRm, *vex, registers);
  decoded.size = kModRm + address.size;
  // The index register of a tile's memory is its stride.
  const bool is_config = *op == TileOp::kLoadConfig;
  const uint64_t offset = address.index * address.scale;
  decoded.memory =
      reinterpret_cast<char*>(address.base + (is_config ? offset : 0));
  decoded.stride = static_cast<int64_t>(offset);
  return decoded;
}

}  // namespace attend
