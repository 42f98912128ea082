#ifndef ATTEND_ENGINE_OPS_LOGITS_LOGITS_KERNEL_H_
#define ATTEND_ENGINE_OPS_LOGITS_LOGITS_KERNEL_H_

#include <cmath>

#include "absl/types/span.h"
#include "engine/compute/isa.h"
#include "engine/ops/logits/logits_view.h"

// How a row of logits is folded: tile by tile, at the same columns for whoever
// does it, so that the bits depend neither on who computed which tile nor on
// whether the row ever existed as a whole.
namespace attend {

// Columns of a tile. Tiles begin at multiples of it; the last may be narrower.
inline constexpr int kLogitsTile = 512;

// Whether `a` comes before `b`. An object, so that algorithms inline it.
inline constexpr auto kRanksBefore = [](const TokenScore& a,
                                        const TokenScore& b) {
  const bool a_is_nan = std::isnan(a.score);
  const bool b_is_nan = std::isnan(b.score);
  if (a_is_nan != b_is_nan) return b_is_nan;
  if (!a_is_nan && a.score != b.score) return a.score > b.score;
  return a.id < b.id;
};

// The best `capacity` tokens of all that were offered, in memory of somebody
// else: a heap whose front is the worst of them.
class TopList {
 public:
  TopList() = default;
  TopList(TokenScore* data, int capacity) : data_(data), capacity_(capacity) {}

  absl::Span<const TokenScore> tokens() const {
    return {data_, static_cast<size_t>(size_)};
  }
  bool full() const { return size_ == capacity_; }
  // Of a full list that is not empty.
  const TokenScore& worst() const { return data_[0]; }

  void Offer(const TokenScore& token);
  // Ends the heap: best first.
  void Sort();

 private:
  TokenScore* data_ = nullptr;
  int capacity_ = 0;
  int size_ = 0;
};

// What a tile adds to its row's sum of exponentials.
struct TileSum {
  float max = 0;
  float sum = 0;  // of exp(x - max); 0 if max is infinite
};

// log(sum(exp)) of a row out of its tiles, in their order.
class TileSums {
 public:
  // `max` is that of the row.
  explicit TileSums(float max) : max_(max) {}
  void Add(const TileSum& tile);
  float LogSumExp() const;

 private:
  float max_;
  // f32 would let the error grow with the vocabulary.
  double sum_ = 0;
};

// Passes over one tile, for one instruction set. A tile is in cache: what they
// cost is instructions.
struct LogitsKernels {
  // The largest; NaN never is. -inf of nothing else.
  float (*max)(absl::Span<const float> tile) = nullptr;
  // sum(exp(x - max)); `max` is that of the tile, and finite.
  float (*sum_exp)(absl::Span<const float> tile, float max) = nullptr;
  // Offers the tokens `first_id`, first_id + 1, ... All offered to the list
  // before have lower ids. `max` is that of the tile.
  void (*offer)(absl::Span<const float> tile, int first_id, float max,
                TopList& list) = nullptr;
  // Each becomes softcap * tanh(it / softcap); NaN stays.
  void (*cap)(absl::Span<float> logits, float softcap) = nullptr;

  static LogitsKernels For(Isa isa);
};

// `max` is that of the tile.
TileSum SumTile(const LogitsKernels& kernels, absl::Span<const float> tile,
                float max);

// The folds over a row that exists as a whole.
float LogSumExp(const LogitsKernels& kernels, absl::Span<const float> row);
void Top(const LogitsKernels& kernels, absl::Span<const float> row,
         absl::Span<TokenScore> out);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_LOGITS_KERNEL_H_
