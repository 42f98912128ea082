#include "server/scheduler/step_health.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

const absl::Time kNow = absl::UnixEpoch() + absl::Hours(1);

TEST(StepHealthTest, FailsAfterSomeFailuresInARow) {
  StepHealth health;
  for (int i = 0; i < StepHealth::kFailures - 1; ++i)
    health.OnStep(false, kNow);
  EXPECT_FALSE(health.failing(kNow));
  health.OnStep(true, kNow);
  for (int i = 0; i < StepHealth::kFailures - 1; ++i)
    health.OnStep(false, kNow);
  EXPECT_FALSE(health.failing(kNow));
  health.OnStep(false, kNow);
  EXPECT_TRUE(health.failing(kNow));
  health.OnStep(true, kNow);
  EXPECT_FALSE(health.failing(kNow));
}

TEST(StepHealthTest, IsTriedAgainAfterAPause) {
  StepHealth health;
  for (int i = 0; i < StepHealth::kFailures; ++i) health.OnStep(false, kNow);
  const absl::Time later = kNow + StepHealth::kPause;
  EXPECT_TRUE(health.failing(later - absl::Nanoseconds(1)));
  EXPECT_FALSE(health.failing(later));
  // One failure is enough then.
  health.OnStep(false, later);
  EXPECT_TRUE(health.failing(later));
}

}  // namespace
}  // namespace attend
