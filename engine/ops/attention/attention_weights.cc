#include "engine/ops/attention/attention_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/tensor/check.h"

namespace attend {
namespace {

constexpr int kTile = KvLayout::kBlockTokens;

// The number at `index` of a list of floats, bf16 or int8.
template <KvType kType>
float NumberAt(const std::byte* list, size_t index) {
  if constexpr (kType == KvType::kInt8) {
    return static_cast<float>(static_cast<int8_t>(list[index]));
  } else if constexpr (kType == KvType::kBf16) {
    uint16_t upper;
    std::memcpy(&upper, list + index * sizeof(upper), sizeof(upper));
    return std::bit_cast<float>(uint32_t{upper} << 16);
  } else {
    float value;
    std::memcpy(&value, list + index * sizeof(value), sizeof(value));
    return value;
  }
}

// One row of one head. The scores of all keys need no memory: they are computed
// again for each use.
template <KvType kType>
class HeadRow {
 public:
  HeadRow(const AttentionWeightsArgs& args, const WeighedRow& row, int head)
      : args_(args), row_(row) {
    const KvLayout& layout = *args.layout;
    const ptrdiff_t at = row.row - args.first_row;
    query_ =
        args.query + at * args.query_stride + ptrdiff_t{head} * layout.head_dim;
    head_at_ =
        layout.head_at(args.layer, head / (args.heads / layout.kv_heads));
  }

  // Adds `share` times the softmax of the scores to the row's weights.
  void AddWeights(float share) const {
    float most = std::numeric_limits<float>::lowest();
    ForEachTile([&](int, const float* scores, int count) {
      for (int i = 0; i < count; ++i) most = std::max(most, scores[i]);
    });
    float sum = 0;
    ForEachTile([&](int, const float* scores, int count) {
      for (int i = 0; i < count; ++i) sum += std::exp(scores[i] - most);
    });
    ForEachTile([&](int first, const float* scores, int count) {
      for (int i = 0; i < count; ++i) {
        row_.weights[first + i] += share * (std::exp(scores[i] - most) / sum);
      }
    });
  }

 private:
  // Calls use(first key, scores, how many) for each block of keys.
  template <class Use>
  void ForEachTile(Use use) const {
    for (int first = 0; first < row_.keys; first += kTile) {
      float scores[kTile];
      Score(row_.blocks[first / kTile] + head_at_, scores);
      use(first, scores, std::min(kTile, row_.keys - first));
    }
  }

  float KeyNumber(const std::byte* keys, size_t index) const {
    if (args_.layout->together == 4) {
      return std::to_integer<int>(keys[index]) - KvLayout::kFoursZero;
    }
    return NumberAt<kType>(keys, index);
  }

  // The scores of a block's keys; see KvLayout.
  void Score(const std::byte* keys, float* scores) const {
    const KvLayout& layout = *args_.layout;
    const int n = layout.together;
    std::fill_n(scores, kTile, 0.0f);
    for (int d = 0; d < layout.head_dim; ++d) {
      const size_t first = size_t{kTile} * (d - d % n) + d % n;
      for (int i = 0; i < kTile; ++i) {
        scores[i] += query_[d] * KeyNumber(keys, first + i * n);
      }
    }
    const AttentionRules& rules = *args_.rules;
    for (int i = 0; i < kTile; ++i) {
      if constexpr (kType == KvType::kInt8) {
        scores[i] *= NumberAt<KvType::kF32>(keys + layout.scales_at(), i);
      }
      scores[i] *= rules.scale;
      if (rules.softcap > 0) {
        scores[i] = rules.softcap * std::tanh(scores[i] / rules.softcap);
      }
    }
  }

  const AttentionWeightsArgs& args_;
  const WeighedRow& row_;
  const float* query_;
  size_t head_at_;  // bytes from a block's start
};

template <KvType kType>
void WeighRow(const AttentionWeightsArgs& args, const WeighedRow& row) {
  std::fill_n(row.weights, row.keys, 0.0f);
  for (int head = 0; head < args.heads; ++head) {
    HeadRow<kType>(args, row, head).AddWeights(1.0f / args.heads);
  }
}

auto WeighRowOf(KvType type) {
  switch (type) {
    case KvType::kF32:
      return WeighRow<KvType::kF32>;
    case KvType::kBf16:
      return WeighRow<KvType::kBf16>;
    case KvType::kInt8:
      return WeighRow<KvType::kInt8>;
  }
  return WeighRow<KvType::kF32>;
}

}  // namespace

void AttentionWeights(Compute& compute, const AttentionWeightsArgs& args) {
  const AttentionRules& rules = *args.rules;
  ATTEND_CHECK(rules.bias.values == nullptr && rules.slopes == nullptr &&
               !rules.distances.any() && rules.window == 0);
  const int count = static_cast<int>(args.rows.size());
  if (count == 0) return;
  const auto weigh = WeighRowOf(args.layout->dtype);
  compute.team().Run([&](int member) {
    const Range mine = Share(count, member, compute.team().size());
    for (int r = mine.begin; r < mine.end; ++r) weigh(args, args.rows[r]);
  });
}

}  // namespace attend
