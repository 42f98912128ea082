#ifndef ATTEND_ENGINE_OPS_LOGITS_LOGITS_KERNEL_H_
#define ATTEND_ENGINE_OPS_LOGITS_LOGITS_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "engine/compute/isa.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/ops/logits/top_list.h"

// A row of logits is folded (into its maximum, its sum of exponentials, its
// best tokens) tile by tile, always with the same tiles. So the bits of a
// result do not depend on which member computed a tile, or on whether the whole
// row was in memory.
namespace attend {

// Columns of a tile. Tiles begin at multiples of kLogitsTile; the last tile may
// be narrower.
inline constexpr int kLogitsTile = 512;

// The share of one tile in a row's sum of exponentials.
struct TileSum {
  float max = 0;  // of the tile
  float sum = 0;  // of exp(x - max) over the tile; 0 if max is infinite
};

// Computes log(sum(exp(x))) of a row from its tiles, added in their order.
class TileSums {
 public:
  // `max` is the maximum of the row.
  explicit TileSums(float max) : max_(max) {}
  void Add(const TileSum& tile);
  float LogSumExp() const;

 private:
  float max_;
  // In f32 the error would grow with the vocabulary.
  double sum_ = 0;
};

// Passes over one tile, for one instruction set. A tile is in cache: the passes
// are bound by instructions.
struct LogitsKernels {
  // The largest number. NaN is ignored; -inf if there is no other number.
  float (*max)(absl::Span<const float> tile) = nullptr;
  // sum(exp(x - max)). `max` is the maximum of the tile, and finite.
  float (*sum_exp)(absl::Span<const float> tile, float max) = nullptr;
  // Offers the tokens first_id, first_id + 1, ... to the list, which has been
  // offered no token with a higher id. `max` is the maximum of the tile.
  void (*offer)(absl::Span<const float> tile, int first_id, float max,
                TopList& list) = nullptr;
  // The same for the tokens of the tile whose bits are set, see LogitsNeed;
  // `allowed` begins with the word of first_id, a multiple of 32.
  void (*offer_allowed)(absl::Span<const float> tile, int first_id,
                        const uint32_t* allowed, TopList& list) = nullptr;
  // x becomes softcap * tanh(x / softcap); NaN stays.
  void (*cap)(absl::Span<float> logits, float softcap) = nullptr;

  static LogitsKernels For(Isa isa);
};

// `max` is the maximum of the tile.
TileSum SumTile(const LogitsKernels& kernels, absl::Span<const float> tile,
                float max);

// The folds over a row that is in memory as a whole. Top() fills `out`, best
// first.
float LogSumExp(const LogitsKernels& kernels, absl::Span<const float> row);
void Top(const LogitsKernels& kernels, absl::Span<const float> row,
         absl::Span<TokenScore> out);
// Of the allowed tokens, see LogitsNeed; returns how many there are.
size_t TopAllowed(const LogitsKernels& kernels, absl::Span<const float> row,
                  const uint32_t* allowed, absl::Span<TokenScore> out);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_LOGITS_KERNEL_H_
