#include "tests/engine/ops/attention/attention_case.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/support/sanitized.h"

namespace attend {

Biases::Biases(int heads, int max_distance)
    : bias{.max_distance = max_distance},
      values(RandomFloats(heads * (bias.Entries() + 3), 9)) {
  bias.stride = bias.Entries() + 3;
  for (int head = 0; head < heads; ++head) {
    float* const row = &values[head * bias.stride];
    for (int i = 0; i < bias.Entries(); ++i) {
      row[i] = row[Entry(i - bias.Edge())];
    }
  }
  bias.values = values.data();
}

int Biases::Entry(int distance) const {
  const int most = bias.max_distance;
  return std::clamp(distance, -most, most) + bias.Edge();
}

float Biases::Of(int head, int distance) const {
  return values[head * bias.stride + Entry(distance)];
}

namespace {

testing::Message Describe(const AttentionCase& c) {
  return testing::Message()
         << c.shape.queries << " queries from " << c.position << ", "
         << c.shape.keys << " keys, window " << c.window << ", bias to "
         << c.max_distance << (c.causal ? ", causal" : "")
         << (c.holes ? ", holes" : "") << (c.slopes ? ", slopes" : "")
         << ", cap " << c.softcap;
}

// What belongs to a case besides queries, keys and values.
class Distances {
 public:
  explicit Distances(const AttentionCase& which)
      : c(which),
        biases(c.shape.heads, std::max(0, c.max_distance)),
        slopes(RandomFloats(c.shape.heads, 10)) {
    std::mt19937 random(3);
    int at = 0;
    for (int k = 0; k < std::max(c.shape.keys, c.position + c.shape.queries);
         ++k) {
      positions.push_back(at);
      at += c.holes && random() % 3 == 0 ? 1 + random() % 7 : 1;
    }
    // Some units over all keys.
    for (float& slope : slopes) slope *= 4 / static_cast<float>(at);
  }

  AttentionRules Scores() const {
    AttentionRules rules = {.softcap = c.softcap, .window = c.window};
    if (c.max_distance >= 0) rules.bias = biases.bias;
    if (c.slopes) rules.slopes = slopes.data();
    return rules;
  }
  double Added(int head, int row, int key) const {
    const int distance = Distance(row, key);
    double added = c.slopes ? double{slopes[head]} * distance : 0;
    if (c.max_distance >= 0) added += biases.Of(head, distance);
    return added;
  }
  AttentionMask Mask() const {
    AttentionMask mask{1, c.shape.queries, c.shape.keys, {}};
    for (int q = 0; q < c.shape.queries; ++q)
      for (int k = 0; k < c.shape.keys; ++k) {
        const bool near = c.window == 0 || std::abs(Distance(q, k)) <= c.window;
        mask.visible.push_back(k < Keys(q) && near);
      }
    return mask;
  }
  AttentionPiece Piece(const Cache& cache, int row, int rows) const {
    AttentionPiece piece{.first_row = row,
                         .rows = rows,
                         .blocks = cache.blocks(0),
                         .keys = Keys(row),
                         .causal = c.causal,
                         .position = c.position + row};
    if (c.holes) piece.key_positions = positions;
    return piece;
  }

 private:
  int Keys(int row) const {
    return c.causal ? c.position + row + 1 : c.shape.keys;
  }
  int Distance(int row, int key) const {
    return positions[key] - positions[c.position + row];
  }

  const AttentionCase c;
  const Biases biases;
  std::vector<float> slopes;
  std::vector<int> positions;
};

}  // namespace

void ExpectCase(const AttentionCase& c, const std::vector<Compute*>& teams) {
  SCOPED_TRACE(Describe(c));
  const AttentionInputs in(c.shape, 1);
  const Distances distances(c);
  const ScoreBias bias = [&](int head, int q, int k) {
    return distances.Added(head, q, k);
  };
  for (const KvType dtype : {KvType::kF32, KvType::kBf16, KvType::kInt8}) {
    const Cache cache(*teams.front(), in, {FirstTokens(c.shape.keys)}, dtype);
    const AttentionInputs rounded = Rounded(in, dtype);
    const auto attend = [&](Compute& compute, int rows) {
      std::vector<AttentionPiece> pieces;
      for (int row = 0; row < c.shape.queries; row += rows) {
        pieces.push_back(
            distances.Piece(cache, row, std::min(rows, c.shape.queries - row)));
      }
      return Attend(compute, in, cache, pieces, distances.Scores());
    };
    const std::vector<float> whole = attend(*teams.front(), c.shape.queries);
    // What is added, some units, and a cap round like a score.
    ExpectNear(whole,
               NaiveAttention(rounded, distances.Mask(), bias, c.softcap),
               AttentionTolerance(rounded) + 1e-5);
    for (Compute* team : teams) {
      for (int rows : {1, 2, 7, 20, c.shape.queries}) {
        if (kSanitized && rows != 7) continue;
        const std::vector<float> got = attend(*team, rows);
        ASSERT_EQ(std::memcmp(got.data(), whole.data(), got.size() * 4), 0)
            << TypeName(dtype) << ", pieces of " << rows << " rows, team of "
            << team->team().size();
      }
    }
  }
}

}  // namespace attend
