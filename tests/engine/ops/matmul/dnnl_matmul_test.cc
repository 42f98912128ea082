// The layout of packed weights: what is read back, and who has which columns.

#include "engine/ops/matmul/dnnl_matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/test_exec.h"

namespace attend {
namespace {

constexpr ComputeType kInt8 = ComputeType::kInt8;

std::vector<float> Random(int count) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

class Int8LayoutTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CheckComputeType(kInt8, exec_.primitives.isa()).ok()) {
      GTEST_SKIP() << "no int8";
    }
  }

  DnnlWeights Weights(const std::vector<float>& values, int n, Range precise) {
    const int k = static_cast<int>(values.size()) / n;
    return {exec_.primitives, kInt8, StoredRows({values.data(), n, k}),
            precise};
  }

  // The largest error of a column's numbers that are read back.
  std::vector<float> ErrorsOf(const std::vector<float>& values, int n,
                              Range precise) {
    const int k = static_cast<int>(values.size()) / n;
    std::vector<float> read(values.size());
    Weights(values, n, precise).Read(0, {read.data(), n, k});
    std::vector<float> errors(n);
    for (size_t i = 0; i < read.size(); ++i) {
      float& most = errors[i / k];
      const float error = std::abs(read[i] - values[i]);
      if (!(error <= most)) most = error;  // NaN too
    }
    return errors;
  }

  TestExec exec_{1};
};

TEST_F(Int8LayoutTest, PreciseColumnsAreReadWithBothPlanes) {
  constexpr int kColumns = 150;
  constexpr Range kPrecise = {80, 150};
  // Numbers within 1 have a step of about 1/128, and what is left a step of
  // about that by 255; spreading makes ranges of up to 3, and sums errors.
  constexpr float kStep = 3.0f / 128;
  // Blocks begin at 0, 64 and 128.
  constexpr int kFirst = 64;
  const std::vector<float> errors =
      ErrorsOf(Random(kColumns * 192), kColumns, kPrecise);
  for (int c = 0; c < kColumns; ++c) {
    SCOPED_TRACE(c);
    EXPECT_LT(errors[c], c < kFirst ? 2 * kStep : 2 * kStep / 255);
    EXPECT_GT(errors[c], c < kFirst ? kStep / 20 : 0);
  }
}

// Sums of numbers that are far below the largest float are not.
TEST_F(Int8LayoutTest, LargeNumbersStayFinite) {
  constexpr float kLarge = 2e38f;
  constexpr int kColumns = 64;
  for (const int precise : {0, kColumns}) {
    const std::vector<float> errors = ErrorsOf(
        std::vector<float>(kColumns * 64, kLarge), kColumns, {0, precise});
    for (const float error : errors) {
      EXPECT_LT(error, kLarge / (precise > 0 ? 1e4f : 100)) << precise;
    }
  }
}

TEST_F(Int8LayoutTest, SharesAreWholeBlocksOfAboutEqualBytes) {
  struct Shape {
    int n;
    Range precise;
  };
  for (const auto& [n, precise] : {Shape{960, {}},
                                   {97, {97, 97}},
                                   {960, {768, 960}},
                                   {97, {27, 97}},
                                   {65, {64, 65}},
                                   {520, {370, 520}},
                                   {520, {130, 250}},
                                   {1024, {0, 64}},
                                   {1024, {0, 1024}}}) {
    const DnnlWeights weights = Weights(Random(n * 8), n, precise);
    const bool any = precise.begin < precise.end;
    const Range blocks = {any ? precise.begin / 64 * 64 : 0,
                          any ? std::min(n, (precise.end + 63) / 64 * 64) : 0};
    const auto planes = [&](Range columns) {
      return columns.end - columns.begin +
             std::max(0, std::min(columns.end, blocks.end) -
                             std::max(columns.begin, blocks.begin));
    };
    for (const int members : {1, 2, 3, 8}) {
      SCOPED_TRACE(testing::Message()
                   << n << " columns, precise " << precise.begin << " to "
                   << precise.end << ", " << members << " members");
      int end = 0;
      for (int member = 0; member < members; ++member) {
        const Range share = weights.ShareOf(member, members);
        EXPECT_EQ(share.begin, end);
        EXPECT_EQ(share.begin % 64, 0);
        EXPECT_LE(share.begin, share.end);
        end = share.end;
        // Half a block of two planes at either end.
        EXPECT_LE(planes(share), planes({0, n}) / members + 2 * 64);
      }
      EXPECT_EQ(end, n);
    }
  }
  // 12 blocks, and 3 of two planes: 18 planes.
  const DnnlWeights heads = Weights(Random(960 * 8), 960, {768, 960});
  for (int member = 0; member < 8; ++member) {
    const Range share = heads.ShareOf(member, 8);
    const int behind = std::max(0, share.end - std::max(share.begin, 768));
    EXPECT_LE(share.end - share.begin + behind, 3 * 64) << member;
  }
}

}  // namespace
}  // namespace attend
