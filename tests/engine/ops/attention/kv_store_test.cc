#include "engine/ops/attention/kv_store.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/ops/attention/attention.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

constexpr int kTokens = KvLayout::kBlockTokens;
constexpr KvType kKvTypes[] = {KvType::kF32, KvType::kBf16, KvType::kInt8};

using KvStoreTest = AttentionIsaTest;
INSTANTIATE_TEST_SUITE_P(AllIsas, KvStoreTest, kAttentionIsas, NameOfIsa);

TEST(KvLayoutTest, BlocksAreWholeCacheLines) {
  for (const KvType dtype : kKvTypes) {
    for (int head_dim : {1, 5, 33, 64, 80}) {
      const KvLayout layout = {
          .layers = 3, .kv_heads = 5, .head_dim = head_dim, .dtype = dtype};
      EXPECT_EQ(layout.block_bytes() % 64, 0u);
      EXPECT_EQ(layout.values_at() % 64, 0u);
      EXPECT_GE(layout.head_bytes(),
                size_t{2} * kTokens * head_dim * BytesOf(dtype));
    }
  }
  // What a token costs where nothing is padded.
  const KvLayout usual = {.layers = 6, .kv_heads = 8, .head_dim = 64};
  EXPECT_EQ(usual.block_bytes(), 16u * 6 * 8 * 2 * 64 * 4);
}

TEST(KvLayoutTest, NumbersLieTogetherWhereTheMachineMultipliesThem) {
  const auto together = [](Isa isa, KvType dtype, int head_dim) {
    return MostTogether(isa, {.head_dim = head_dim, .dtype = dtype});
  };
  for (const Isa isa : {Isa::kAvx512Vnni, Isa::kAvx512Bf16, Isa::kAmx}) {
    EXPECT_EQ(together(isa, KvType::kF32, 64), 1);
    EXPECT_EQ(together(isa, KvType::kBf16, 64),
              isa == Isa::kAvx512Vnni ? 1 : 2);
    EXPECT_EQ(together(isa, KvType::kInt8, 64), 4);
  }
  EXPECT_EQ(together(Isa::kAvx512, KvType::kInt8, 64), 1);
  EXPECT_EQ(together(Isa::kAmx, KvType::kBf16, 33), 1);
  EXPECT_EQ(together(Isa::kAmx, KvType::kBf16, 258), 1);
  EXPECT_EQ(together(Isa::kAmx, KvType::kInt8, 66), 1);
  EXPECT_EQ(together(Isa::kAmx, KvType::kInt8, 260), 1);
}

// The stored value of token 0 comes back as the attention over it alone.
std::vector<float> ReadBack(Compute& compute, const std::vector<float>& value,
                            KvType dtype) {
  AttentionInputs in({1, 1, static_cast<int>(value.size()), 1, 1}, 1);
  in.value = value;
  const Cache cache(compute, in, {{0}}, dtype);
  return Attend(compute, in, cache, {{0, 1, cache.blocks(0), 1, false}});
}

TEST_P(KvStoreTest, KeepsNumbersWithinHalfAStep) {
  const auto compute = MakeCompute();
  for (const KvType dtype : kKvTypes) {
    for (float size : {1e-30f, 1.0f, 1e30f}) {
      std::vector<float> value = RandomFloats(77, 5);
      float amax = 0;
      for (float& x : value) amax = std::max(amax, std::abs(x *= size));
      const std::vector<float> got = ReadBack(*compute, value, dtype);
      for (size_t i = 0; i < value.size(); ++i) {
        const double most = dtype == KvType::kBf16 ? std::abs(value[i]) : amax;
        ASSERT_NEAR(got[i], value[i], RoundingError(dtype, most) * (1 + 1e-6))
            << TypeName(dtype);
      }
    }
  }
}

TEST_P(KvStoreTest, Bf16RoundsToNearestWithTiesToEven) {
  const auto compute = MakeCompute();
  EXPECT_EQ(ReadBack(*compute,
                     {0x1.01p0f, 0x1.03p0f, 0x1.010002p0f, -0x1.01p0f, 0.0f},
                     KvType::kBf16),
            (std::vector<float>{0x1p0f, 0x1.04p0f, 0x1.02p0f, -0x1p0f, 0.0f}));
}

TEST_P(KvStoreTest, ZerosAndTheLargestNumbersStayFinite) {
  const auto compute = MakeCompute();
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  for (const KvType dtype : {KvType::kBf16, KvType::kInt8}) {
    EXPECT_EQ(ReadBack(*compute, {0, 0, 0}, dtype),
              (std::vector<float>{0, 0, 0}));
    for (float x : ReadBack(*compute, {kLeast, -kLeast, 0}, dtype)) {
      EXPECT_LE(std::abs(x), kLeast);
    }
    const std::vector<float> got =
        ReadBack(*compute, {kMost, -kInf, kInf, 0}, dtype);
    EXPECT_NEAR(got[0] / kMost, 1, 0.01);
    EXPECT_NEAR(got[1] / kMost, -1, 0.01);
    EXPECT_NEAR(got[2] / kMost, 1, 0.01);
    EXPECT_EQ(got[3], 0);
  }
}

// A failed computation shows, it does not become a number.
TEST_P(KvStoreTest, NanStaysNan) {
  const auto compute = MakeCompute();
  std::vector<float> value(20, 1.0f);
  value[17] = -std::nanf("");
  for (const KvType dtype : kKvTypes) {
    EXPECT_TRUE(std::isnan(ReadBack(*compute, value, dtype)[17]));
  }
}

// Large writes, which the team shares, and small ones, at any offset.
TEST_P(KvStoreTest, BytesDependOnTheRowOnly) {
  const auto compute = MakeCompute();
  const auto team = MakeCompute(3);
  constexpr int kTogether = 150;  // the last block is filled one by one
  constexpr int kRows = 10 * kTokens;
  const AttentionInputs in({4, 4, 40, 1, kRows}, 1);
  for (const KvType dtype : kKvTypes) {
    const Cache whole(*team, in, {FirstTokens(kTogether)}, dtype);
    const Cache again(*compute, in, {FirstTokens(kTogether)}, dtype);
    const KvLayout& layout = whole.layout();
    Blocks pool(layout, 10);
    const std::vector<std::byte*> blocks = pool.Take(kRows);
    const auto write_row = [&](absl::Span<std::byte* const> to, int row) {
      const KvWrite write = {0, 1, to, row};
      WriteKv(*compute, {.layout = &layout,
                         .layer = 1,
                         .key = &in.key[size_t(row) * in.kv_cols()],
                         .value = &in.value[size_t(row) * in.kv_cols()],
                         .stride = in.kv_cols(),
                         .writes = {&write, 1}});
    };
    for (int row = 0; row < kRows; ++row) write_row(blocks, row);
    for (int row = kTogether; row < kRows; ++row) {
      write_row(whole.blocks(0), row);
      write_row(again.blocks(0), row);
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      for (const Cache* cache : {&whole, &again}) {
        ASSERT_EQ(
            std::memcmp(blocks[i], cache->blocks(0)[i], layout.block_bytes()),
            0)
            << TypeName(dtype) << " block " << i;
      }
    }
  }
}

// A copy attends like its original; what it continues with is its own.
TEST(CopyKvTest, CopyIsReadLikeTheOriginal) {
  Compute compute(ComputeOptions{.threads = 1});
  // Numbers lie together in the second.
  for (const int head_dim : {9, 12}) {
    const AttentionInputs in({4, 2, head_dim, 1, kTokens}, 1);
    for (const KvType dtype : kKvTypes) {
      const Cache cache(compute, in, {FirstTokens(kTokens)}, dtype, true);
      const auto attend = [&](absl::Span<std::byte* const> blocks, int tokens) {
        return Attend(compute, in, cache, {{0, 1, blocks, tokens, false}});
      };
      for (const int tokens : {1, 7, kTokens}) {
        Blocks copies(cache.layout(), 1);
        const std::vector<std::byte*> copy = copies.Take(tokens);
        CopyKv(cache.layout(), cache.blocks(0)[0], tokens, copy[0]);
        EXPECT_EQ(attend(copy, tokens), attend(cache.blocks(0), tokens))
            << tokens << " in " << TypeName(dtype);
      }
    }
  }
}

}  // namespace
}  // namespace attend
