#include "server/scheduler/clock.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>

#include "absl/time/clock.h"

namespace attend {
namespace {

// The clock that nobody can set.
absl::Time Monotonic() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::TimeFromTimespec(now);
}

TEST(SteadyNowTest, GoesAsTheClockThatNobodyCanSet) {
  absl::Duration least = absl::InfiniteDuration();
  absl::Duration most = -absl::InfiniteDuration();
  for (int i = 0; i < 1000; ++i) {
    const absl::Time before = Monotonic();
    const absl::Time now = SteadyNow();
    const absl::Time after = Monotonic();
    least = std::min(least, now - before);
    most = std::max(most, now - after);
  }
  // One number is the difference of both, at all times.
  EXPECT_LE(most, least);
}

TEST(SteadyNowTest, IsTheTimeOfTheDayUnlessThatWasSet) {
  EXPECT_LT(absl::AbsDuration(SteadyNow() - absl::Now()), absl::Minutes(1));
}

}  // namespace
}  // namespace attend
