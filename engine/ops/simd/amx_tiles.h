#ifndef ATTEND_ENGINE_OPS_SIMD_AMX_TILES_H_
#define ATTEND_ENGINE_OPS_SIMD_AMX_TILES_H_

#include <cstddef>
#include <cstdint>

// The tiles of AMX: eight registers of up to 16 rows of 64 bytes, named by
// their numbers. The instructions are written out: so they need no option of
// the compiler, and intrinsics do not tell the compiler that a tile is memory
// that it has read.
namespace attend::amx {

inline constexpr int kTileHeight = 16;  // rows
inline constexpr int kTileBytes = 64;   // of a row

// The height of the fewest tiles of one height that hold some rows. The last
// may have to begin among the rows of the one before.
constexpr int HeightOf(int rows) {
  const int count = (rows - 1) / kTileHeight + 1;
  return (rows - 1) / count + 1;
}

// The shapes of the eight tiles, as the CPU reads them.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes[16] = {};  // of a row
  uint8_t rows[16] = {};

  void Set(int tile, int height, int row_bytes) {
    rows[tile] = static_cast<uint8_t>(height);
    bytes[tile] = static_cast<uint16_t>(row_bytes);
  }
};

// The tiles of this thread while it lives.
class Tiles {
 public:
  explicit Tiles(const TileShapes& shapes) {
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  ~Tiles() { asm volatile("tilerelease"); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

template <int T>
inline void Zero() {
  asm volatile("tilezero %%tmm%c0" : : "i"(T));
}

// `stride`: bytes from row to row.
template <int T>
inline void Load(const void* from, ptrdiff_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
               :
               : "r"(from), "r"(stride), "i"(T)
               : "memory");
}

template <int T>
inline void Store(void* to, ptrdiff_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
               :
               : "r"(to), "r"(stride), "i"(T)
               : "memory");
}

// Sum += Row * Weight, in floats. A row of Weight has two numbers of each
// column.
struct Bf16 {
  template <int Sum, int Row, int Weight>
  static void AddProducts() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(Sum), "i"(Row), "i"(Weight));
  }
};

// The same in whole numbers, of s8 x u8; four numbers of each column.
struct SignedByUnsigned {
  template <int Sum, int Row, int Weight>
  static void AddProducts() {
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(Sum), "i"(Row), "i"(Weight));
  }
};

// Of u8 x u8.
struct UnsignedByUnsigned {
  template <int Sum, int Row, int Weight>
  static void AddProducts() {
    asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(Sum), "i"(Row), "i"(Weight));
  }
};

// Of u8 x s8.
struct UnsignedBySigned {
  template <int Sum, int Row, int Weight>
  static void AddProducts() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(Sum), "i"(Row), "i"(Weight));
  }
};

}  // namespace attend::amx

#endif  // ATTEND_ENGINE_OPS_SIMD_AMX_TILES_H_
