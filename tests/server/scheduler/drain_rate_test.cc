#include "server/scheduler/drain_rate.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

constexpr absl::Time kStart = absl::FromUnixSeconds(1000);

auto About(absl::Duration time) {
  return AllOf(Ge(0.75 * time), Le(1.25 * time + absl::Milliseconds(1)));
}

TEST(DrainRateTest, FollowsTheRateOfWhatEnds) {
  for (const absl::Duration gap :
       {absl::Milliseconds(1), absl::Milliseconds(40), absl::Seconds(1)}) {
    DrainRate rate;
    absl::Time now = kStart;
    rate.OnBusy(now);
    for (int i = 0; i < 200; ++i) rate.OnFinished(now += gap);
    EXPECT_THAT(rate.RetryAfter(20, now), About(20 * gap)) << gap;
  }
}

// Ends come in bursts, one a step.
TEST(DrainRateTest, ABurstIsNoRate) {
  DrainRate rate;
  absl::Time now = kStart;
  rate.OnBusy(now);
  for (int step = 0; step < 30; ++step) {
    now += absl::Seconds(1);
    for (int i = 0; i < 8; ++i) rate.OnFinished(now);
  }
  EXPECT_THAT(rate.RetryAfter(80, now), About(absl::Seconds(10)));
}

// Long beams: the queue empties into what runs at once, and then nothing ends.
TEST(DrainRateTest, NothingEnds) {
  DrainRate rate;
  EXPECT_THAT(rate.RetryAfter(1000, kStart), About(absl::Seconds(1)));
  rate.OnBusy(kStart);
  EXPECT_THAT(rate.RetryAfter(1000, kStart), About(absl::Seconds(1)));
  const absl::Duration later = rate.RetryAfter(1000, kStart + absl::Seconds(8));
  EXPECT_THAT(later, AllOf(Ge(absl::Seconds(4)), Le(absl::Seconds(8))));
}

TEST(DrainRateTest, SlowsDownWhenNothingEndsAnyMore) {
  DrainRate rate;
  absl::Time now = kStart;
  rate.OnBusy(now);
  for (int i = 0; i < 100; ++i) rate.OnFinished(now += absl::Milliseconds(10));
  EXPECT_THAT(rate.RetryAfter(10, now), About(absl::Milliseconds(100)));
  now += absl::Seconds(20);
  EXPECT_GT(rate.RetryAfter(10, now), absl::Seconds(2));
}

TEST(DrainRateTest, IdleTimeDoesNotCount) {
  DrainRate rate;
  absl::Time now = kStart;
  for (int i = 0; i < 100; ++i) {
    rate.OnBusy(now);
    rate.OnFinished(now += absl::Milliseconds(100));
    rate.OnIdle(now);
    now += absl::Hours(1);
  }
  EXPECT_THAT(rate.RetryAfter(10, now), About(absl::Seconds(1)));
}

TEST(DrainRateTest, HasBounds) {
  DrainRate fast;
  absl::Time now = kStart;
  fast.OnBusy(now);
  for (int i = 0; i < 1000; ++i) fast.OnFinished(now += absl::Microseconds(10));
  DrainRate slow;
  slow.OnBusy(kStart);
  slow.OnFinished(kStart + absl::Seconds(60));
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(fast.RetryAfter(1, now),
                AllOf(Ge(DrainRate::kMinRetry), Le(2 * DrainRate::kMinRetry)));
    EXPECT_THAT(slow.RetryAfter(100000, kStart + absl::Seconds(60)),
                AllOf(Ge(absl::Seconds(18)), Le(DrainRate::kMaxRetry)));
  }
}

TEST(DrainRateTest, ThoseWhoAreRefusedTogetherAreSpread) {
  DrainRate rate;
  absl::Time now = kStart;
  rate.OnBusy(now);
  for (int i = 0; i < 200; ++i) rate.OnFinished(now += absl::Milliseconds(100));
  std::vector<absl::Duration> times;
  for (int i = 0; i < 100; ++i) times.push_back(rate.RetryAfter(100, now));
  std::sort(times.begin(), times.end());
  EXPECT_GT(times.back() - times.front(), absl::Seconds(4));
  for (size_t i = 1; i < times.size(); ++i) {
    EXPECT_LT(times[i] - times[i - 1], absl::Milliseconds(200));
  }
}

}  // namespace
}  // namespace attend
