#include "server/tenants/rate_bucket.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

TEST(RateBucketTest, ABurstThenTheRate) {
  RateBucket bucket({.per_second = 4, .burst = 3}, kStart);
  int taken = 0;
  for (int millis = 0; millis <= 10'000; ++millis) {
    const absl::Time now = kStart + absl::Milliseconds(millis);
    while (bucket.Wait(1, now) == absl::ZeroDuration()) {
      bucket.Take(1, now);
      ++taken;
    }
    if (millis == 0) {
      EXPECT_EQ(taken, 3);
    }
  }
  EXPECT_EQ(taken, 3 + 4 * 10);
}

TEST(RateBucketTest, TheWaitIsTheTimeToRefill) {
  RateBucket bucket({.per_second = 4, .burst = 2}, kStart);
  bucket.Take(2, kStart);
  EXPECT_EQ(bucket.Wait(1, kStart), absl::Milliseconds(250));
  EXPECT_EQ(bucket.Wait(1, At(0.1)), absl::Milliseconds(150));
  EXPECT_EQ(bucket.Wait(1, At(0.2)), absl::Milliseconds(50));
  EXPECT_EQ(bucket.Wait(1, At(0.25)), absl::ZeroDuration());
  // Rounded up: who comes back then finds it.
  RateBucket odd({.per_second = 3, .burst = 1}, kStart);
  odd.Take(1, kStart);
  const absl::Duration wait = odd.Wait(1, kStart);
  EXPECT_EQ(wait, absl::Milliseconds(334));
  EXPECT_EQ(odd.Wait(1, kStart + wait), absl::ZeroDuration());
}

TEST(RateBucketTest, ADebtIsPaidFirst) {
  RateBucket bucket({.per_second = 100, .burst = 50}, kStart);
  bucket.Take(1050, kStart);
  EXPECT_EQ(bucket.Wait(1, kStart), absl::Seconds(10.01));
  EXPECT_EQ(bucket.Wait(1, At(10)), absl::Milliseconds(10));
  EXPECT_EQ(bucket.Wait(1, At(10.01)), absl::ZeroDuration());
  // More than fits is there when it is full.
  EXPECT_EQ(bucket.Wait(1000, At(10.01)), absl::Milliseconds(490));
}

TEST(RateBucketTest, TimesInAnotherOrderEarnNothing) {
  RateBucket bucket({.per_second = 1, .burst = 1}, At(100));
  bucket.Take(1, At(100));
  EXPECT_EQ(bucket.Wait(1, At(99.5)), absl::Seconds(1));
  EXPECT_EQ(bucket.Wait(1, At(100.5)), absl::Milliseconds(500));
}

TEST(RateBucketTest, AClockThatIsSetBackLocksNobodyOut) {
  RateBucket bucket({.per_second = 1, .burst = 1}, At(100));
  bucket.Take(1, At(100));
  EXPECT_EQ(bucket.Wait(1, At(50)), absl::Seconds(1));
  EXPECT_EQ(bucket.Wait(1, At(51)), absl::ZeroDuration());
}

TEST(RateBucketTest, AnotherLimitKeepsWhatIsLeftAndOwed) {
  RateBucket bucket({.per_second = 1, .burst = 10}, kStart);
  bucket.Take(4, kStart);
  bucket.SetLimit({.per_second = 2, .burst = 20}, At(1));  // 7 are left
  EXPECT_EQ(bucket.Wait(8, At(1)), absl::Milliseconds(500));
  bucket.SetLimit({.per_second = 2, .burst = 5}, At(1));
  bucket.Take(5, At(1));
  EXPECT_EQ(bucket.Wait(1, At(1)), absl::Milliseconds(500));
  bucket.Take(10, At(1));
  bucket.SetLimit({.per_second = 1, .burst = 5}, At(1));
  EXPECT_EQ(bucket.Wait(1, At(1)), absl::Seconds(11));
}

}  // namespace
}  // namespace attend
