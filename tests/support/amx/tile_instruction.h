#ifndef ATTEND_TESTS_SUPPORT_AMX_TILE_INSTRUCTION_H_
#define ATTEND_TESTS_SUPPORT_AMX_TILE_INSTRUCTION_H_

#include <array>
#include <cstdint>
#include <optional>

namespace attend {

enum class TileOp {
  kLoadConfig,
  kRelease,
  kZero,
  kLoad,
  kStore,
  kDotBf16,
  kDotSignedUnsigned,
  kDotUnsignedSigned,
  kDotUnsigned,
};

// One decoded AMX instruction.
struct TileInstruction {
  TileOp op = TileOp::kRelease;
  int size = 0;  // bytes of code
  // Tile registers: the destination and, of dot products, the two sources.
  int dst = 0;
  int left = 0;
  int right = 0;
  char* memory = nullptr;  // operand in memory, if the op has one
  int64_t stride = 0;      // bytes between rows in memory
};

// The sixteen general registers, in the order of their numbers in machine code.
using GeneralRegisters = std::array<uint64_t, 16>;

// Decodes the instruction at `code`; nullopt if it is none of AMX's above.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
// 2, sections 2.1.5 (ModR/M and SIB bytes), 2.3 (VEX prefix) and chapter 4.
std::optional<TileInstruction> DecodeTileInstruction(
    const uint8_t* code, const GeneralRegisters& registers);

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_AMX_TILE_INSTRUCTION_H_
