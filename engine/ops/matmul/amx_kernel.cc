#include "engine/ops/matmul/amx_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/ops/simd/amx_tiles.h"

namespace attend {
namespace {

using amx::kTileBytes;
using amx::kTileHeight;
using amx::Load;
using amx::Zero;

constexpr int kTileColumns = 16;
constexpr int kUnitStride = kBlockColumns * kUnitBytes;

// Of the cache, in a step through a block: 16 units of its 64 columns.
constexpr int kLineBytes = 64;
constexpr int kStepLines = kTileHeight * kUnitStride / kLineBytes;
constexpr int kToL2 = 2;  // of __builtin_prefetch()

// Of the eight tiles, those from 0 on are sums, two or one from kRows on rows
// of the source, and two from kWeights on weights.
constexpr int kSums = 4;
constexpr int kRows = kSums;
constexpr int kWeights = 6;

// Sums and rows of the source have `height` rows.
amx::TileShapes ShapesOf(int height) {
  amx::TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    shapes.Set(tile, tile < kWeights ? height : kTileHeight, kTileBytes);
  }
  return shapes;
}

// The rows of a call, in `count` tiles of the same height. The last one may
// begin among the rows of the one before, whose sums are the same.
class Rows {
 public:
  explicit Rows(const MultiplyArgs& args)
      : src_(static_cast<const char*>(args.src)),
        stride_(ptrdiff_t{args.units} * kUnitBytes),
        rows_(args.rows),
        whole_(args.units / kTileHeight),
        count_((args.rows + kTileHeight - 1) / kTileHeight),
        height_(amx::HeightOf(args.rows)) {
    const int rest = static_cast<int>(stride_ % kTileBytes);
    if (rest == 0) return;
    for (int row = 0; row < rows_; ++row) {
      std::memcpy(ends_[row], src_ + row * stride_ + whole_ * kTileBytes, rest);
      std::memset(ends_[row] + rest, 0, kTileBytes - rest);
    }
  }

  int count() const { return count_; }
  int height() const { return height_; }
  int first(int tile) const {
    return std::min(tile * height_, rows_ - height_);
  }
  // Loads units [16 * step, 16 * step + 16) of the rows of a tile. Behind the
  // last unit there are zeros.
  template <int T>
  void LoadUnits(int tile, int step) const {
    const int row = first(tile);
    if (step < whole_) {
      Load<T>(src_ + row * stride_ + ptrdiff_t{step} * kTileBytes, stride_);
    } else {
      Load<T>(ends_[row], kTileBytes);
    }
  }

 private:
  const char* const src_;
  const ptrdiff_t stride_;  // bytes
  const int rows_;
  const int whole_;  // whole tiles in a row
  const int count_;
  const int height_;
  alignas(64) char ends_[kMultiplyRows][kTileBytes];
};

// One block of weights, and where its products go.
struct Block {
  const char* weights = nullptr;
  int steps = 0;  // tiles, one below the other
  float* dst = nullptr;
  int stride = 0;   // of dst, in numbers
  int columns = 0;  // that dst has
  int height = 0;   // rows of a tile
  // The block that is multiplied next, or null. Weights that lie in L3 would be
  // waited for, so they are read into L2 in the passes through this block.
  const char* next = nullptr;
  int passes = 1;

  const char* step(int i) const { return weights + StepBytes(i); }
  static ptrdiff_t StepBytes(int i) {
    return ptrdiff_t{i} * kTileHeight * kUnitStride;
  }

  // The part of step `i` of the next block that belongs to a pass.
  void Prefetch(int pass, int i) const {
    if (next == nullptr) return;
    const char* const from = next + StepBytes(i);
    const int begin = kStepLines * pass / passes;
    const int end = kStepLines * (pass + 1) / passes;
    for (int line = begin; line < end; ++line) {
      __builtin_prefetch(from + ptrdiff_t{line} * kLineBytes, 0, kToL2);
    }
  }

  // Writes sums [height, 16] to dst from `row` and `column` on.
  template <int T>
  void Write(int row, int column) const {
    const int count = std::min(kTileColumns, columns - column);
    if (count <= 0) return;
    float* const to = dst + ptrdiff_t{row} * stride + column;
    if (count == kTileColumns) {
      return amx::Store<T>(to, ptrdiff_t{stride} * kUnitBytes);
    }
    alignas(64) float sums[kTileHeight][kTileColumns];
    amx::Store<T>(sums, kTileBytes);
    for (int r = 0; r < height; ++r) {
      std::copy_n(sums[r], count, to + ptrdiff_t{r} * stride);
    }
  }
};

// One tile of rows and all columns of a block.
void MultiplyOne(const Rows& rows, int tile, int pass, const Block& block) {
  Zero<0>();
  Zero<1>();
  Zero<2>();
  Zero<3>();
  for (int i = 0; i < block.steps; ++i) {
    const char* const weights = block.step(i);
    block.Prefetch(pass, i);
    rows.LoadUnits<kRows>(tile, i);
    Load<kWeights>(weights, kUnitStride);
    amx::Bf16::AddProducts<0, kRows, kWeights>();
    Load<kWeights + 1>(weights + kTileBytes, kUnitStride);
    amx::Bf16::AddProducts<1, kRows, kWeights + 1>();
    Load<kWeights>(weights + 2 * kTileBytes, kUnitStride);
    amx::Bf16::AddProducts<2, kRows, kWeights>();
    Load<kWeights + 1>(weights + 3 * kTileBytes, kUnitStride);
    amx::Bf16::AddProducts<3, kRows, kWeights + 1>();
  }
  const int row = rows.first(tile);
  block.Write<0>(row, 0);
  block.Write<1>(row, kTileColumns);
  block.Write<2>(row, 2 * kTileColumns);
  block.Write<3>(row, 3 * kTileColumns);
}

// Two tiles of rows, from `tile` on, and two tiles of columns, from `column`
// on: a tile that is loaded is multiplied twice.
void MultiplyTwo(const Rows& rows, int tile, int pass, const Block& block,
                 int column) {
  Zero<0>();
  Zero<1>();
  Zero<2>();
  Zero<3>();
  for (int i = 0; i < block.steps; ++i) {
    const char* const weights = block.step(i) + column * kUnitBytes;
    block.Prefetch(pass, i);
    Load<kWeights>(weights, kUnitStride);
    rows.LoadUnits<kRows>(tile, i);
    amx::Bf16::AddProducts<0, kRows, kWeights>();
    rows.LoadUnits<kRows + 1>(tile + 1, i);
    amx::Bf16::AddProducts<2, kRows + 1, kWeights>();
    Load<kWeights + 1>(weights + kTileBytes, kUnitStride);
    amx::Bf16::AddProducts<1, kRows, kWeights + 1>();
    amx::Bf16::AddProducts<3, kRows + 1, kWeights + 1>();
  }
  const int first = rows.first(tile);
  const int second = rows.first(tile + 1);
  block.Write<0>(first, column);
  block.Write<1>(first, column + kTileColumns);
  block.Write<2>(second, column);
  block.Write<3>(second, column + kTileColumns);
}

void MultiplyBlock(const Rows& rows, const Block& block) {
  int tile = 0;
  int pass = 0;
  for (; tile + 1 < rows.count(); tile += 2) {
    for (int column = 0; column < block.columns; column += 2 * kTileColumns) {
      MultiplyTwo(rows, tile, pass++, block, column);
    }
  }
  if (tile < rows.count()) {
    MultiplyOne(rows, tile, pass, block);
  }
}

}  // namespace

void MultiplyBf16ByTiles(const MultiplyArgs& args) {
  const Rows rows(args);
  const amx::Tiles tiles(ShapesOf(rows.height()));
  const ptrdiff_t block_bytes =
      ptrdiff_t{kBlockColumns} * args.padded_units * kUnitBytes;
  const char* weights = static_cast<const char*>(args.weights);
  for (int column = 0; column < args.n; column += kBlockColumns) {
    // With one tile of rows there is too little to do meanwhile.
    const bool ahead = rows.count() > 1 && column + kBlockColumns < args.n;
    const char* const next = weights + block_bytes;
    MultiplyBlock(rows, {.weights = std::exchange(weights, next),
                         .steps = (args.units + kTileHeight - 1) / kTileHeight,
                         .dst = args.dst + column,
                         .stride = args.n,
                         .columns = std::min(kBlockColumns, args.n - column),
                         .height = rows.height(),
                         .next = ahead ? next : nullptr,
                         .passes = rows.count()});
  }
}

}  // namespace attend
