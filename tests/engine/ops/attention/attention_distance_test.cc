// Attention by distance: biases and windows, with holes in the source and
// without.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/attention_case.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int kChunk = 512;

using AttentionDistanceTest = AttentionIsaTest;
INSTANTIATE_TEST_SUITE_P(AllIsas, AttentionDistanceTest, kAttentionIsas,
                         NameOfIsa);

TEST_P(AttentionDistanceTest, BiasesEqualTheNaiveForm) {
  const auto alone = MakeCompute(1);
  const auto two = MakeCompute(2);
  for (const bool holes : {false, true})
    for (const bool causal : {false, true})
      for (const int most : {0, 1, 20, 127}) {
        const std::vector<Compute*> teams = {alone.get(), two.get()};
        ExpectCase({.shape = {3, 3, 7, 45, 45},
                    .causal = causal,
                    .max_distance = most,
                    .holes = holes},
                   teams);
        for (const int heads : {3, 9}) {
          ExpectCase({.shape = {heads, 3, 16, 1, 70},
                      .position = 69,
                      .causal = causal,
                      .max_distance = most,
                      .holes = holes},
                     teams);
        }
      }
}

TEST_P(AttentionDistanceTest, WindowsEqualTheNaiveForm) {
  const auto alone = MakeCompute(1);
  const auto three = MakeCompute(3);
  for (const bool holes : {false, true})
    for (const bool causal : {false, true})
      for (const int window : {1, 3, 15, 16, 33, 100}) {
        ExpectCase({.shape = {2, 1, 20, 75, 75},
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
      ExpectCase({.shape = {1, 1, 8, 67, 2 * kChunk + 100},
                  .position = position,
                  .causal = causal,
                  .window = window,
                  .max_distance = 40,
                  .holes = window == 64},
                 {alone.get(), two.get()});
      ExpectCase({.shape = {3, 1, 8, 1, 2 * kChunk + 100},
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
    for (const auto& [dtype, bad] :
         {std::pair(KvType::kF32, kInf), std::pair(KvType::kInt8, kNan)}) {
      AttentionInputs in({1, 1, 16, 40, 40}, 1);
      std::fill_n(in.key.begin() + infinite * 16, 16, bad);
      std::fill_n(in.value.begin() + infinite * 16, 16, bad);
      const Cache cache(*compute, in, {FirstTokens(40)}, dtype);
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
}

// As sliding windows will want it: what has left the window may be given back.
TEST_P(AttentionDistanceTest, BlocksOutsideTheWindowAreNotRead) {
  const auto compute = MakeCompute();
  constexpr int kTokens = KvLayout::kBlockTokens;
  constexpr int kKeys = 2 * kChunk;
  for (const KvType dtype : {KvType::kF32, KvType::kInt8})
    for (const int rows : {1, 5, 16}) {
      const AttentionInputs in({2, 2, 16, rows, kKeys}, 1);
      const Cache cache(*compute, in, {FirstTokens(kKeys)}, dtype);
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
      // Nor by a call for the row before.
      EXPECT_EQ(Attend(*compute, in, cache, {piece, piece}, {}, 40), expected);
    }
}

TEST_P(AttentionDistanceTest, AnEmptyWindowGivesZeros) {
  const auto compute = MakeCompute();
  const std::vector<int> positions = {0, 1, 2, 3, 50, 51};
  for (const auto& [dtype, head_dim] :
       {std::pair(KvType::kF32, 9), std::pair(KvType::kInt8, 12)}) {
    const AttentionInputs in({1, 1, head_dim, 2, 4}, 1);
    const Cache cache(*compute, in, {FirstTokens(4)}, dtype);
    const std::vector<float> dst = Attend(*compute, in, cache,
                                          {{.rows = 2,
                                            .blocks = cache.blocks(0),
                                            .keys = 4,
                                            .position = 4,
                                            .key_positions = positions}},
                                          {}, 10);
    EXPECT_EQ(dst, std::vector<float>(dst.size(), 0.0f));
  }
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
