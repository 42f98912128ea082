#include "engine/ops/logits/logits_view.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "engine/compute/isa.h"
#include "engine/ops/logits/logits_kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

class LogitsViewTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > DetectIsa()) GTEST_SKIP() << "not on this machine";
  }
  float LogSumExp(const std::vector<float>& row) const {
    return attend::LogSumExp(LogitsKernels::For(GetParam()), row);
  }
  std::vector<int> Top(absl::Span<const float> row, int n) const {
    std::vector<TokenScore> out(n);
    attend::Top(LogitsKernels::For(GetParam()), row, absl::MakeSpan(out));
    std::vector<int> ids;
    for (const TokenScore& token : out) {
      ids.push_back(token.id);
      EXPECT_EQ(std::memcmp(&token.score, &row[token.id], sizeof(float)), 0);
    }
    return ids;
  }
};

INSTANTIATE_TEST_SUITE_P(AllIsas, LogitsViewTest,
                         ::testing::Values(Isa::kBaseline, Isa::kAvx2,
                                           Isa::kAvx512),
                         [](const auto& isa) {
                           return std::string(IsaName(isa.param));
                         });

std::vector<float> Random(int n, float deviation, int seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> row(n);
  for (float& x : row) x = normal(random);
  return row;
}

// A full sort: NaN as the lowest, ties by lower id.
std::vector<int> NaiveTop(absl::Span<const float> row, int n) {
  std::vector<int> ids(row.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) {
    if (std::isnan(row[a])) return false;
    return std::isnan(row[b]) || row[a] > row[b];
  });
  ids.resize(n);
  return ids;
}

double NaiveLogSumExp(const std::vector<float>& row) {
  const double max = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (float x : row) sum += std::exp(x - max);
  return max + std::log(sum);
}

TEST_P(LogitsViewTest, LogSumExpEqualsDoubles) {
  for (int n : {1, 2, 7, 15, 16, 17, 33, 1000, 1024, 1025, 8000, 58101}) {
    for (float deviation : {0.01f, 1.0f, 30.0f}) {
      const std::vector<float> row = Random(n, deviation, n);
      const double expected = NaiveLogSumExp(row);
      // Half a unit of the result; the terms' own errors of 2 units and those
      // of sums of 64 to 256 terms average out well below 16 units.
      const double tolerance = 6e-8 * std::abs(expected) + 16 * 6e-8;
      EXPECT_NEAR(LogSumExp(row), expected, tolerance) << n << " " << deviation;
    }
  }
}

TEST_P(LogitsViewTest, LogSumExpOfExtremes) {
  EXPECT_EQ(LogSumExp({-kInf, -kInf, -kInf}), -kInf);
  EXPECT_EQ(LogSumExp({1, kInf, 3}), kInf);
  EXPECT_FLOAT_EQ(LogSumExp({3e38f, -3e38f, -kInf}), 3e38f);
  EXPECT_FLOAT_EQ(LogSumExp({-3e38f, -3e38f}), -3e38f);
  EXPECT_FLOAT_EQ(LogSumExp({kNan, 2, kNan}), 2);
  EXPECT_FLOAT_EQ(LogSumExp(std::vector<float>(40, -1e30f)), -1e30f);
}

TEST_P(LogitsViewTest, TopEqualsASort) {
  for (int vocab : {1, 2, 5, 16, 31, 64, 100, 1003, 8000}) {
    const std::vector<float> row = Random(vocab, 3, vocab);
    for (int n : {0, 1, 2, 4, 8, 31, 128, 1000}) {
      if (n > vocab) break;
      EXPECT_EQ(Top(row, n), NaiveTop(row, n)) << vocab << " " << n;
    }
    EXPECT_EQ(Top(row, vocab), NaiveTop(row, vocab)) << vocab;
  }
}

TEST_P(LogitsViewTest, TopBreaksTiesByLowerId) {
  std::mt19937 random(5);
  std::vector<float> row(777);
  for (float& x : row) x = static_cast<float>(random() % 4);
  for (int n : {1, 3, 16, 200, 777}) EXPECT_EQ(Top(row, n), NaiveTop(row, n));
}

TEST_P(LogitsViewTest, TopOfAscendingAndDescendingRows) {
  std::vector<float> row(500);
  std::iota(row.begin(), row.end(), -250.0f);
  EXPECT_EQ(Top(row, 40), NaiveTop(row, 40));
  std::reverse(row.begin(), row.end());
  EXPECT_EQ(Top(row, 40), NaiveTop(row, 40));
}

TEST_P(LogitsViewTest, TopPutsNanBelowMinusInfinity) {
  EXPECT_THAT(Top({kNan, -kInf, 1, kNan, kInf}, 5),
              ::testing::ElementsAre(4, 2, 1, 0, 3));
  std::mt19937 random(9);
  std::vector<float> row = Random(600, 1, 9);
  for (float& x : row) {
    const int kind = random() % 3;
    if (kind == 0) x = kNan;
    if (kind == 1) x = -kInf;
  }
  for (int n : {1, 2, 50, 300, 600}) EXPECT_EQ(Top(row, n), NaiveTop(row, n));
  // Only NaN at first: what is kept must give way to what comes later.
  std::fill(row.begin(), row.begin() + 300, kNan);
  EXPECT_EQ(Top(row, 200), NaiveTop(row, 200));
}

TEST_P(LogitsViewTest, ResultsDoNotDependOnAlignmentOrNeighbours) {
  const std::vector<float> row = Random(1003, 2, 1);
  const float sum = LogSumExp(row);
  const std::vector<int> top = Top(row, 20);
  for (int shift = 1; shift < 17; ++shift) {
    std::vector<float> moved(shift + row.size() + 16, 1e9f);
    std::copy(row.begin(), row.end(), moved.begin() + shift);
    const absl::Span<const float> view(moved.data() + shift, row.size());
    EXPECT_EQ(attend::LogSumExp(LogitsKernels::For(GetParam()), view), sum);
    EXPECT_EQ(Top(view, 20), top);
  }
}

TEST(LogitsViewOfThisMachineTest, AnswersForItsRow) {
  const std::vector<float> row = Random(300, 2, 4);
  const LogitsView view(row);
  EXPECT_EQ(view.vocab(), 300);
  EXPECT_EQ(view.At(7), row[7]);
  EXPECT_NEAR(view.LogSumExp(), NaiveLogSumExp(row), 1e-5);
  std::vector<TokenScore> top(3);
  view.Top(absl::MakeSpan(top));
  const std::vector<int> expected = NaiveTop(row, 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(top[i].id, expected[i]);
    EXPECT_EQ(top[i].score, row[expected[i]]);
  }
}

}  // namespace
}  // namespace attend
