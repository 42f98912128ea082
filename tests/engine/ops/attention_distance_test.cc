// Attention by distance: biases and windows, with holes in the source and
// without.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/ops/attention_cache.h"
#include "tests/engine/ops/naive_attention.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int kChunk = 512;

using AttentionDistanceTest = AttentionIsaTest;
INSTANTIATE_TEST_SUITE_P(AllIsas, AttentionDistanceTest, kAttentionIsas,
                         NameOfIsa);

// Random biases of `heads` heads.
struct Biases {
  Biases(int heads, int max_distance)
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
  int Entry(int distance) const {
    const int most = bias.max_distance;
    return std::clamp(distance, -most, most) + bias.Edge();
  }
  float Of(int head, int distance) const {
    return values[head * bias.stride + Entry(distance)];
  }

  DistanceBias bias;
  std::vector<float> values;
};

struct Case {
  AttentionShape shape;
  int position = 0;  // of the first query
  bool causal = false;
  int window = 0;
  int max_distance = -1;  // of the bias; -1: none
  bool holes = false;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.shape.queries << " queries from " << c.position << ", "
             << c.shape.keys << " keys, window " << c.window << ", bias to "
             << c.max_distance << (c.causal ? ", causal" : "")
             << (c.holes ? ", holes" : "");
}

// What belongs to a case besides queries, keys and values.
struct Distances {
  explicit Distances(const Case& which)
      : c(which), biases(c.shape.heads, std::max(0, c.max_distance)) {
    std::mt19937 random(3);
    int at = 0;
    for (int k = 0; k < std::max(c.shape.keys, c.position + c.shape.queries);
         ++k) {
      positions.push_back(at);
      at += c.holes && random() % 3 == 0 ? 1 + random() % 7 : 1;
    }
  }

  int Keys(int row) const {
    return c.causal ? c.position + row + 1 : c.shape.keys;
  }
  int Distance(int row, int key) const {
    return positions[key] - positions[c.position + row];
  }
  DistanceBias Bias() const {
    return c.max_distance < 0 ? DistanceBias{} : biases.bias;
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

  const Case c;
  const Biases biases;
  std::vector<int> positions;
};

// The naive form in every dtype; and the same bits for a row in any company.
void ExpectDistances(const Case& c, const std::vector<Compute*>& teams) {
  SCOPED_TRACE(testing::Message() << c);
  const AttentionInputs in(c.shape, 1);
  const Distances distances(c);
  const ScoreBias bias = [&](int head, int q, int k) {
    return c.max_distance < 0
               ? 0.0
               : distances.biases.Of(head, distances.Distance(q, k));
  };
  for (const DType dtype : {DType::kF32, DType::kBf16, DType::kInt8}) {
    const Cache cache(*teams.front(), in, {FirstTokens(c.shape.keys)}, dtype);
    const AttentionInputs rounded = Rounded(in, dtype);
    const auto attend = [&](Compute& compute, int rows) {
      std::vector<AttentionPiece> pieces;
      for (int row = 0; row < c.shape.queries; row += rows) {
        pieces.push_back(
            distances.Piece(cache, row, std::min(rows, c.shape.queries - row)));
      }
      return Attend(compute, in, cache, pieces, distances.Bias(), c.window);
    };
    const std::vector<float> whole = attend(*teams.front(), c.shape.queries);
    // A bias of some units rounds like a score.
    ExpectNear(whole, NaiveAttention(rounded, distances.Mask(), bias),
               AttentionTolerance(rounded) + 1e-5);
    for (Compute* team : teams) {
      for (int rows : {1, 2, 7, 20, c.shape.queries}) {
        const std::vector<float> got = attend(*team, rows);
        ASSERT_EQ(std::memcmp(got.data(), whole.data(), got.size() * 4), 0)
            << DTypeName(dtype) << ", pieces of " << rows << " rows, team of "
            << team->team().size();
      }
    }
  }
}

TEST_P(AttentionDistanceTest, BiasesEqualTheNaiveForm) {
  const auto alone = MakeCompute(1);
  const auto two = MakeCompute(2);
  for (const bool holes : {false, true})
    for (const bool causal : {false, true})
      for (const int most : {0, 1, 20, 127}) {
        const std::vector<Compute*> teams = {alone.get(), two.get()};
        ExpectDistances({.shape = {3, 3, 7, 45, 45},
                         .causal = causal,
                         .max_distance = most,
                         .holes = holes},
                        teams);
        ExpectDistances({.shape = {9, 3, 16, 1, 70},
                         .position = 69,
                         .causal = causal,
                         .max_distance = most,
                         .holes = holes},
                        teams);
      }
}

TEST_P(AttentionDistanceTest, WindowsEqualTheNaiveForm) {
  const auto alone = MakeCompute(1);
  const auto three = MakeCompute(3);
  for (const bool holes : {false, true})
    for (const bool causal : {false, true})
      for (const int window : {1, 3, 15, 16, 33, 100}) {
        ExpectDistances({.shape = {2, 1, 20, 75, 75},
                         .causal = causal,
                         .window = window,
                         .max_distance = holes ? 5 : -1,
                         .holes = holes},
                        {alone.get(), three.get()});
      }
}

TEST_P(AttentionDistanceTest, WindowsAcrossChunks) {
  const auto alone = MakeCompute(1);
  const auto two = MakeCompute(2);
  for (const bool causal : {false, true})
    for (const int window : {5, 64, kChunk, kChunk + 90}) {
      const int position = kChunk - 33;
      ExpectDistances({.shape = {1, 1, 8, 67, 2 * kChunk + 100},
                       .position = position,
                       .causal = causal,
                       .window = window,
                       .max_distance = 40,
                       .holes = window == 64},
                      {alone.get(), two.get()});
      ExpectDistances({.shape = {3, 1, 8, 1, 2 * kChunk + 100},
                       .position = 2 * kChunk + 60,
                       .causal = causal,
                       .window = window},
                      {alone.get(), two.get()});
    }
}

TEST_P(AttentionDistanceTest, KeysOutsideTheWindowNeverTouchARow) {
  const auto compute = MakeCompute();
  constexpr int kWindow = 2;
  for (const int infinite : {0, 9, 17, 39}) {
    AttentionInputs in({1, 1, 16, 40, 40}, 1);
    std::fill_n(in.key.begin() + infinite * 16, 16, kInf);
    std::fill_n(in.value.begin() + infinite * 16, 16, kInf);
    const Cache cache(*compute, in, {FirstTokens(40)});
    const std::vector<float> dst = Attend(
        *compute, in, cache,
        {{.rows = 40, .blocks = cache.blocks(0), .keys = 40}}, {}, kWindow);
    for (int row = 0; row < 40; ++row) {
      if (std::abs(row - infinite) <= kWindow) continue;
      for (int d = 0; d < 16; ++d) {
        ASSERT_TRUE(std::isfinite(dst[row * 16 + d])) << row;
      }
    }
  }
}

// As sliding windows will want it: what has left the window may be given back.
TEST_P(AttentionDistanceTest, BlocksOutsideTheWindowAreNotRead) {
  const auto compute = MakeCompute();
  constexpr int kTokens = KvLayout::kBlockTokens;
  constexpr int kKeys = 2 * kChunk;
  for (const int rows : {1, 5, 16}) {
    const AttentionInputs in({2, 2, 16, rows, kKeys}, 1);
    const Cache cache(*compute, in, {FirstTokens(kKeys)});
    AttentionPiece piece{.rows = rows,
                         .blocks = cache.blocks(0),
                         .keys = kKeys,
                         .position = kChunk + 8};
    const std::vector<float> expected =
        Attend(*compute, in, cache, {piece}, {}, 40);
    std::vector<std::byte*> blocks(cache.blocks(0).begin(),
                                   cache.blocks(0).end());
    for (int i = 0; i < kKeys / kTokens; ++i) {
      const bool before = (i + 1) * kTokens <= piece.position - 40;
      const bool after = i * kTokens > piece.position + rows - 1 + 40;
      if (before || after) blocks[i] = nullptr;
    }
    piece.blocks = blocks;
    EXPECT_EQ(Attend(*compute, in, cache, {piece}, {}, 40), expected);
  }
}

TEST_P(AttentionDistanceTest, AnEmptyWindowGivesZeros) {
  const auto compute = MakeCompute();
  const AttentionInputs in({1, 1, 9, 2, 4}, 1);
  const Cache cache(*compute, in, {FirstTokens(4)});
  const std::vector<int> positions = {0, 1, 2, 3, 50, 51};
  const std::vector<float> dst = Attend(*compute, in, cache,
                                        {{.rows = 2,
                                          .blocks = cache.blocks(0),
                                          .keys = 4,
                                          .position = 4,
                                          .key_positions = positions}},
                                        {}, 10);
  EXPECT_EQ(dst, std::vector<float>(dst.size(), 0.0f));
}

// Nor does an infinite bias make anything but the largest score.
TEST_P(AttentionDistanceTest, InfiniteBiasIsTheLargestScore) {
  const auto compute = MakeCompute();
  const AttentionInputs in({1, 1, 16, 9, 9}, 1);
  const Cache cache(*compute, in, {FirstTokens(9)});
  Biases biases(1, 4);
  biases.values[biases.Entry(0)] = kInf;
  const std::vector<float> dst =
      Attend(*compute, in, cache,
             {{.rows = 9, .blocks = cache.blocks(0), .keys = 9}}, biases.bias);
  for (size_t i = 0; i < dst.size(); ++i) EXPECT_EQ(dst[i], in.value[i]);
}

}  // namespace
}  // namespace attend
