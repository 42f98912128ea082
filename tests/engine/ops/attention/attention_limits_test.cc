#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/attention/mask.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr KvType kTypes[] = {KvType::kF32, KvType::kInt8};
// Few keys, and many: in int8 kernels of their own.
constexpr int kKeys[] = {20, 100};

using AttentionLimitsTest = AttentionIsaTest;
INSTANTIATE_TEST_SUITE_P(AllIsas, AttentionLimitsTest, kAttentionIsas,
                         NameOfIsa);

TEST_P(AttentionLimitsTest, LaterKeysNeverTouchARow) {
  const auto compute = MakeCompute();
  constexpr int kDim = 64;
  for (const KvType dtype : kTypes)
    for (const int keys : {8, 100})
      for (const int rows : {8, 40})
        for (const float bad : {kInf, kNan}) {
          if (rows > keys) continue;
          AttentionInputs in({1, 1, kDim, rows, keys}, 1);
          std::fill(in.key.end() - kDim, in.key.end(), bad);
          std::fill(in.value.end() - kDim, in.value.end(), bad);
          const Cache cache(*compute, in, {FirstTokens(keys)}, dtype);
          const auto dst =
              Attend(*compute, in, cache,
                     {{0, rows, cache.blocks(0), keys - rows + 1, true}});
          const int last = (rows - 1) * kDim;
          for (int i = 0; i < last; ++i) {
            ASSERT_TRUE(std::isfinite(dst[i])) << i;
          }
          if (!std::isnan(bad)) continue;
          for (int i = last; i < last + kDim; ++i) {
            ASSERT_TRUE(std::isnan(dst[i])) << keys;
          }
        }
}

TEST_P(AttentionLimitsTest, HugeScoresAreNeverNan) {
  const auto compute = MakeCompute();
  for (const int keys : kKeys)
    for (const float huge : {1e18f, 3e38f, kInf})
      for (const KvType dtype : kTypes) {
        AttentionInputs in({1, 1, 16, 9, keys}, 1);
        for (float& x : in.query) x *= huge;
        for (float& x : in.key) x *= huge;
        const Cache cache(*compute, in, {FirstTokens(keys)}, dtype);
        const auto dst =
            Attend(*compute, in, cache, {{0, 9, cache.blocks(0), keys, false}});
        for (float x : dst) {
          ASSERT_TRUE(std::isfinite(x)) << TypeName(dtype);
          // An average of the values.
          ASSERT_LE(std::abs(x),
                    *std::max_element(in.value.begin(), in.value.end()) + 3);
        }
      }
}

TEST_P(AttentionLimitsTest, AllScoresMinusInfinityWeighTheSame) {
  const auto compute = MakeCompute();
  AttentionInputs in({1, 1, 4, 1, 3}, 1);
  std::fill(in.query.begin(), in.query.end(), 1.0f);
  std::fill(in.key.begin(), in.key.end(), -kInf);
  const Cache cache(*compute, in, {FirstTokens(3)});
  const auto dst =
      Attend(*compute, in, cache, {{0, 1, cache.blocks(0), 3, false}});
  for (int d = 0; d < 4; ++d) {
    EXPECT_NEAR(dst[d], (in.value[d] + in.value[4 + d] + in.value[8 + d]) / 3,
                1e-6);
  }
}

TEST_P(AttentionLimitsTest, NanScoresAreTheSmallest) {
  const auto compute = MakeCompute();
  // Of the first `bad` keys the score is NaN, or minus infinity.
  const auto attend = [&](KvType dtype, int keys, float score, int bad) {
    AttentionInputs in({1, 1, 16, 9, keys}, 1);
    std::fill(in.query.begin(), in.query.end(), 1.0f);
    std::fill_n(in.key.begin(), bad * 16, score);
    const Cache cache(*compute, in, {FirstTokens(keys)}, dtype);
    return Attend(*compute, in, cache, {{0, 9, cache.blocks(0), keys, false}});
  };
  for (const KvType dtype : kTypes)
    for (const int keys : kKeys)
      for (const int bad : {1, keys - 1, keys}) {
        const auto dst = attend(dtype, keys, kNan, bad);
        EXPECT_EQ(dst, attend(dtype, keys, -kInf, bad)) << bad;
        for (float x : dst) ASSERT_TRUE(std::isfinite(x));
      }
}

TEST_P(AttentionLimitsTest, QueriesOfAnySizeGiveAnAverage) {
  const auto compute = MakeCompute();
  constexpr int kDim = 16;
  for (const KvType dtype : kTypes)
    for (const int keys : {3, 100})
      for (const float number : {kNan, kInf, -kInf, 3e38f, 1e-33f, 0.0f}) {
        SCOPED_TRACE(testing::Message() << number << ", " << keys << " keys");
        const float error = dtype == KvType::kInt8 ? 0.02f : 1e-5f;
        AttentionInputs in({1, 1, kDim, 2, keys}, 1);
        in.query[5] = number;
        std::fill_n(in.query.begin() + kDim, kDim, number);
        const Cache cache(*compute, in, {FirstTokens(keys)}, dtype);
        const auto dst =
            Attend(*compute, in, cache, {{0, 2, cache.blocks(0), keys, false}});
        for (int d = 0; d < kDim; ++d) {
          float least = kInf;
          float most = -kInf;
          float sum = 0;
          for (int key = 0; key < keys; ++key) {
            const float value = in.value[key * kDim + d];
            least = std::min(least, value);
            most = std::max(most, value);
            sum += value;
          }
          for (const float x : {dst[d], dst[kDim + d]}) {
            ASSERT_GE(x, least - error);
            ASSERT_LE(x, most + error);
          }
          // All scores are NaN, or as good as 0.
          if (number == kInf || number == -kInf || number == 3e38f) continue;
          EXPECT_NEAR(dst[kDim + d], sum / static_cast<float>(keys), error);
        }
      }
}

// Many keys that weigh little beside one keep their sum.
TEST_P(AttentionLimitsTest, SmallWeightsAreNotLost) {
  const auto compute = MakeCompute();
  for (const float ahead : {6.0f, 12.0f}) {
    AttentionInputs in({1, 1, 16, 1, 512}, 1);
    std::fill(in.query.begin(), in.query.end(), 1.0f);
    std::fill(in.key.begin(), in.key.end(), 0.0f);
    std::fill_n(in.key.begin(), 16, ahead / 16 / in.scale());
    std::fill(in.value.begin(), in.value.end(), 1.0f);
    std::fill_n(in.value.begin(), 16, -1.0f);
    for (const KvType dtype : kTypes) {
      const Cache cache(*compute, in, {FirstTokens(512)}, dtype);
      const float small = 511 * std::exp(-ahead);
      for (const float x :
           Attend(*compute, in, cache, {{0, 1, cache.blocks(0), 512, false}})) {
        EXPECT_NEAR(x, (small - 1) / (small + 1), 3e-4) << ahead;
      }
    }
  }
}

TEST_P(AttentionLimitsTest, LargeValuesDoNotOverflow) {
  const auto compute = MakeCompute();
  for (const int keys : kKeys) {
    AttentionInputs in({1, 1, 16, 1, keys}, 1);
    std::fill(in.value.begin(), in.value.end(), 3e38f);
    for (const KvType dtype : kTypes) {
      const Cache cache(*compute, in, {FirstTokens(keys)}, dtype);
      for (const float x : Attend(*compute, in, cache,
                                  {{0, 1, cache.blocks(0), keys, false}})) {
        EXPECT_NEAR(x / 3e38, 1, 1e-5);
      }
    }
  }
}

// Whole numbers take the place of values, however small these are.
TEST_P(AttentionLimitsTest, SmallValuesDoNotVanish) {
  const auto compute = MakeCompute();
  for (const int keys : kKeys)
    for (const float size : {1e-29f, 1e-20f}) {
      AttentionInputs in({1, 1, 16, 1, keys}, 1);
      for (float& x : in.value) x *= size;
      const AttentionInputs rounded = Rounded(in, KvType::kInt8);
      const Cache cache(*compute, in, {FirstTokens(keys)}, KvType::kInt8);
      const auto dst =
          Attend(*compute, in, cache, {{0, 1, cache.blocks(0), keys, false}});
      const auto expected =
          NaiveAttention(rounded, PaddingMask({keys}, 1, keys));
      for (int d = 0; d < 16; ++d) {
        EXPECT_NEAR(dst[d] / size, expected[d] / size, 1e-4) << size;
      }
    }
}

}  // namespace
}  // namespace attend
