#include "client/cpp/load/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace attend {
namespace {

TEST(QuantilesTest, Empty) {
  const Quantiles quantiles = Summarize({});
  EXPECT_EQ(quantiles.count, 0);
  EXPECT_EQ(quantiles.p99, absl::ZeroDuration());
}

TEST(QuantilesTest, OneToAHundred) {
  std::vector<absl::Duration> values;
  for (int i = 100; i >= 1; --i) values.push_back(absl::Milliseconds(i));
  const Quantiles quantiles = Summarize(values);
  EXPECT_EQ(quantiles.count, 100);
  EXPECT_EQ(quantiles.mean, absl::Microseconds(50500));
  EXPECT_EQ(quantiles.p50, absl::Milliseconds(50));
  EXPECT_EQ(quantiles.p90, absl::Milliseconds(90));
  EXPECT_EQ(quantiles.p99, absl::Milliseconds(99));
  EXPECT_EQ(quantiles.max, absl::Milliseconds(100));
}

// The smallest value that at least p % do not exceed, found by trying each.
absl::Duration NaivePercentile(const std::vector<absl::Duration>& values,
                               int percent) {
  absl::Duration best = absl::InfiniteDuration();
  for (const absl::Duration candidate : values) {
    const auto below = std::count_if(values.begin(), values.end(),
                                     [&](auto v) { return v <= candidate; });
    if (100 * below >= percent * static_cast<int64_t>(values.size())) {
      best = std::min(best, candidate);
    }
  }
  return best;
}

TEST(QuantilesTest, EqualsTheDefinition) {
  std::mt19937 random(7);
  for (int size = 1; size <= 230; size += size < 12 ? 1 : 31) {
    std::vector<absl::Duration> values(size);
    for (auto& value : values) value = absl::Microseconds(random() % 50);
    const Quantiles quantiles = Summarize(values);
    EXPECT_EQ(quantiles.p50, NaivePercentile(values, 50)) << size;
    EXPECT_EQ(quantiles.p90, NaivePercentile(values, 90)) << size;
    EXPECT_EQ(quantiles.p99, NaivePercentile(values, 99)) << size;
  }
}

TEST(PoissonArrivalsTest, SeedDecides) {
  PoissonArrivals a(100, 5), same(100, 5), other(100, 6);
  int differing = 0;
  for (int i = 0; i < 50; ++i) {
    const absl::Duration time = a.Next();
    EXPECT_EQ(time, same.Next());
    if (time != other.Next()) ++differing;
  }
  EXPECT_EQ(differing, 50);
}

// Gaps are exponential: mean and standard deviation 1 / rate, and a share of
// 1 - 1/e is below the mean. 20,000 draws put each within 3 % at 4 sigma.
TEST(PoissonArrivalsTest, GapsAreExponential) {
  constexpr double kRate = 250;
  constexpr int kCount = 20000;
  PoissonArrivals arrivals(kRate, 1);
  double sum = 0, squares = 0;
  int below = 0;
  absl::Duration last = absl::ZeroDuration();
  for (int i = 0; i < kCount; ++i) {
    const absl::Duration time = arrivals.Next();
    ASSERT_GT(time, last);
    const double gap = absl::ToDoubleSeconds(time - last) * kRate;
    sum += gap;
    squares += gap * gap;
    below += gap < 1;
    last = time;
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 1, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kCount - mean * mean), 1, 0.04);
  EXPECT_NEAR(static_cast<double>(below) / kCount, 1 - std::exp(-1), 0.02);
}

}  // namespace
}  // namespace attend
