#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/ops/attention/mask.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

using AttentionMaskTest = AttentionIsaTest;
INSTANTIATE_TEST_SUITE_P(AllIsas, AttentionMaskTest, kAttentionIsas, NameOfIsa);

// The positions where the mask is 1.
std::vector<int> KeptTokens(absl::Span<const int32_t> mask) {
  std::vector<int> kept;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] == 1) kept.push_back(static_cast<int>(i));
  }
  return kept;
}

TEST_P(AttentionMaskTest, RaggedRowsEqualThePaddingMask) {
  const auto compute = MakeCompute();
  const std::vector<int> lengths = {1, 37, 16, 0, 29};
  const AttentionInputs in({2, 2, 24, 37, 37}, 5);
  std::vector<std::vector<int>> kept;
  for (int length : lengths) kept.push_back(FirstTokens(length));
  const Cache cache(*compute, in, kept);
  std::vector<AttentionPiece> pieces;
  for (int b = 0; b < 5; ++b) {
    pieces.push_back({b * 37, 37, cache.blocks(b), lengths[b], false});
  }
  ExpectNear(Attend(*compute, in, cache, pieces),
             NaiveAttention(in, PaddingMask(lengths, 37, 37)),
             AttentionTolerance(in));
}

TEST_P(AttentionMaskTest, CausalPieceEqualsTheCausalMask) {
  const auto compute = MakeCompute();
  for (const AttentionShape shape :
       {AttentionShape{2, 1, 20, 45, 45}, AttentionShape{2, 2, 64, 10, 40},
        AttentionShape{1, 1, 7, 1, 33}}) {
    const AttentionInputs in(shape, 2);
    const Cache cache(*compute, in,
                      {FirstTokens(shape.keys), FirstTokens(shape.keys)});
    std::vector<AttentionPiece> pieces;
    for (int b = 0; b < 2; ++b) {
      pieces.push_back({b * shape.queries, shape.queries, cache.blocks(b),
                        shape.keys - shape.queries + 1, true});
    }
    ExpectNear(Attend(*compute, in, cache, pieces),
               NaiveAttention(in, CausalMask(2, shape.queries, shape.keys)),
               AttentionTolerance(in));
  }
}

// Masked tokens leave the ragged rows; the others see what the padded
// computation sees.
TEST_P(AttentionMaskTest, KeptTokensEqualTheCallersMask) {
  const auto compute = MakeCompute();
  constexpr int kWidth = 40;
  const AttentionInputs in({2, 2, 12, kWidth, kWidth}, 2);
  std::vector<int32_t> mask(2 * kWidth);
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = (i * 7 % 5) > 1;
  std::vector<std::vector<int>> kept;
  for (int b = 0; b < 2; ++b) {
    kept.push_back(
        KeptTokens(absl::MakeSpan(mask).subspan(b * kWidth, kWidth)));
  }
  const Cache cache(*compute, in, kept);
  std::vector<AttentionPiece> pieces;
  for (int b = 0; b < 2; ++b) {
    pieces.push_back({b * kWidth, kWidth, cache.blocks(b),
                      static_cast<int>(kept[b].size()), false});
  }
  ExpectNear(Attend(*compute, in, cache, pieces),
             NaiveAttention(in, TokenMask(mask, 2, kWidth)),
             AttentionTolerance(in));
}

TEST_P(AttentionMaskTest, CausalHolesEqualBothMasks) {
  const auto compute = MakeCompute();
  constexpr int kWidth = 21;
  const AttentionInputs in({2, 1, 16, kWidth, kWidth}, 1);
  std::vector<int32_t> mask(kWidth);
  for (int i = 0; i < kWidth; ++i) mask[i] = i % 3 != 0;
  const std::vector<int> kept = KeptTokens(mask);
  const Cache cache(*compute, in, {kept});
  std::vector<AttentionPiece> pieces;  // one a token: query i, keys kept <= i
  int keys = 0;
  for (int i = 0; i < kWidth; ++i) {
    keys += mask[i];
    pieces.push_back({i, 1, cache.blocks(0), keys, false});
  }
  ExpectNear(Attend(*compute, in, cache, pieces),
             NaiveAttention(in, Both(CausalMask(1, kWidth, kWidth),
                                     TokenMask(mask, 1, kWidth))),
             AttentionTolerance(in));
}

TEST_P(AttentionMaskTest, NoKeysGiveZeros) {
  const auto compute = MakeCompute();
  for (const auto& [dtype, head_dim] :
       {std::pair(KvType::kF32, 9), std::pair(KvType::kInt8, 12)}) {
    const AttentionInputs in({2, 2, head_dim, 3, 4}, 1);
    const Cache cache(*compute, in, {FirstTokens(4)}, dtype);
    for (const int rows : {1, 3}) {
      std::vector<float> dst =
          Attend(*compute, in, cache, {{0, rows, {}, 0, false}});
      dst.resize(rows * in.query_cols());
      EXPECT_THAT(dst, ::testing::Each(0.0f));
    }
    // Causal from nothing: only the first row sees nothing.
    const auto causal =
        Attend(*compute, in, cache, {{0, 3, cache.blocks(0), 0, true}});
    const AttentionInputs rounded = Rounded(in, dtype);
    const float error = dtype == KvType::kInt8 ? 1e-6f : 0;
    for (int i = 0; i < 2 * head_dim; ++i) {
      EXPECT_EQ(causal[i], 0.0f);
      EXPECT_NEAR(causal[2 * head_dim + i], rounded.value[i], error);
    }
  }
}

// Beams of one request share their cross keys; other rows stay as they are.
TEST_P(AttentionMaskTest, WritesItsOwnRowsOnly) {
  const auto compute = MakeCompute(2);
  const AttentionInputs in({2, 2, 8, 6, 30}, 1);
  const Cache cache(*compute, in, {FirstTokens(30)});
  const auto dst =
      Attend(*compute, in, cache, {{1, 4, cache.blocks(0), 30, false}});
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(dst[i], 0.0f);
    EXPECT_EQ(dst[5 * 16 + i], 0.0f);
    EXPECT_NE(dst[16 + i], 0.0f);
  }
}

}  // namespace
}  // namespace attend
