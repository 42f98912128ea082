#ifndef ATTEND_TESTS_SUPPORT_AMX_TILE_REGISTERS_H_
#define ATTEND_TESTS_SUPPORT_AMX_TILE_REGISTERS_H_

#include <cstdint>

#include "tests/support/amx/tile_instruction.h"

namespace attend {

// The eight tile registers of one thread, and what instructions do to them.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
// 2, the "Operation" of each instruction.
class TileRegisters {
 public:
  void Execute(const TileInstruction& instruction);

 private:
  static constexpr int kTiles = 8;
  static constexpr int kMaxRows = 16;
  static constexpr int kMaxBytes = 64;

  struct Tile {
    int rows = 0;
    int bytes = 0;  // per row
    uint8_t data[kMaxRows][kMaxBytes] = {};
  };

  void LoadConfig(const char* config);
  void Dot(const TileInstruction& instruction);

  Tile tiles_[kTiles];
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_AMX_TILE_REGISTERS_H_
