// Keys in int8 have a scale a token and head. A channel of large numbers, as
// models have in their keys, must not take the levels of the others.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "engine/layers/multi_head_attention.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/test_exec.h"

namespace attend {
namespace {

constexpr int kTokens = KvLayout::kBlockTokens;
constexpr int kHidden = 64;
constexpr HeadShape kShape = {.heads = 1, .kv_heads = 1, .head_dim = kHidden};
constexpr int kLarge = 5;  // the channel of large numbers

std::vector<float> Random(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// A matrix whose row `row` is multiplied by `factor`.
std::vector<float> Matrix64(unsigned seed, float factor) {
  std::vector<float> values = Random(kHidden * kHidden, seed);
  for (float& value : values) value /= std::sqrt(float{kHidden});
  for (int i = 0; i < kHidden; ++i) values[kLarge * kHidden + i] *= factor;
  return values;
}

class Int8KeysTest : public testing::Test {
 protected:
  Linear Map(const std::vector<float>& weights) {
    const int rows = static_cast<int>(weights.size()) / kHidden;
    return *Linear::Create(exec_.primitives, ComputeType::kF32,
                           StoredRows({weights.data(), rows, kHidden}), {},
                           kTokens);
  }

  std::vector<float> Joined(const std::vector<std::vector<float>>& parts) {
    std::vector<float> all;
    for (const auto& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  // The results [tokens, hidden] of self-attention, then of cross-attention.
  std::vector<float> Attend(KvType type) {
    exec_.primitives.ReserveScratch(AttentionScratchFloats(kHidden));
    // Queries do not see the large channel.
    const std::vector<float> query = Matrix64(1, 0);
    const std::vector<float> key = Matrix64(2, 300);
    const std::vector<float> value = Matrix64(3, 1);
    const std::vector<float> out = Matrix64(4, 1);
    const AttentionRules rules = {.scale = 0.5f};
    const SelfAttention self(kShape, rules, {},
                             Map(Joined({query, key, value})), Map(out));
    const CrossAttention cross(kShape, rules, 0, Map(query),
                               Map(Joined({key, value})), Map(out));
    const KvLayout layout = {
        .layers = 1, .kv_heads = 1, .head_dim = kHidden, .dtype = type};
    const KvPlace place = {.layout = &layout};
    std::vector<std::byte> block(layout.block_bytes());
    std::byte* const blocks[] = {block.data()};
    const KvWrite writes[] = {{.rows = kTokens, .blocks = blocks}};
    const AttentionPiece pieces[] = {
        {.rows = kTokens, .blocks = blocks, .keys = kTokens}};
    ExecContext& context = exec_.context();

    std::vector<float> src = Random(kTokens * kHidden, 5);
    const Operand x = OperandOf({src.data(), kTokens, kHidden});
    std::vector<float> memory(kTokens * 3 * kHidden);
    std::vector<float> attended_memory(kTokens * kHidden);
    const Matrix attended_rows = {attended_memory.data(), kTokens, kHidden};
    const Attended attended = {attended_rows, OperandOf(attended_rows)};
    std::vector<float> results(2 * kTokens * kHidden);
    const Matrix dst = {results.data(), kTokens, kHidden};
    const Matrix qkv = {memory.data(), kTokens, 3 * kHidden};
    EXPECT_TRUE(self.Project(context, x, {}, qkv, place, writes).ok());
    EXPECT_TRUE(self.Attend(context, qkv.data, qkv.cols, place, pieces,
                            attended, dst, {})
                    .ok());
    EXPECT_TRUE(cross
                    .StoreKeysAndValues(context, x,
                                        {memory.data(), kTokens, 2 * kHidden},
                                        place, writes)
                    .ok());
    EXPECT_TRUE(cross
                    .Attend(context, x, place, pieces,
                            {memory.data(), kTokens, kHidden}, attended,
                            {&results[kTokens * kHidden], kTokens, kHidden}, {})
                    .ok());
    return results;
  }

  TestExec exec_{1};
};

TEST_F(Int8KeysTest, ALargeChannelDoesNotHideTheOthers) {
  const std::vector<float> expected = Attend(KvType::kF32);
  const std::vector<float> found = Attend(KvType::kInt8);
  for (const size_t begin : {size_t{0}, expected.size() / 2}) {
    double squares = 0;
    double errors = 0;
    for (size_t i = begin; i < begin + expected.size() / 2; ++i) {
      squares += std::pow(expected[i], 2);
      errors += std::pow(found[i] - expected[i], 2);
    }
    EXPECT_LT(std::sqrt(errors / squares), 0.15)
        << (begin == 0 ? "self" : "cross");
    EXPECT_GT(errors, 0);
  }
}

}  // namespace
}  // namespace attend
