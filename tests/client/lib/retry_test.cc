#include "client/cpp/lib/retry.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

constexpr absl::Duration kMinute = absl::Minutes(1);

TEST(RetryPolicyTest, PausesDoubleUpToTheBound) {
  const RetryPolicy policy{.max_attempts = 10,
                           .initial_backoff = absl::Milliseconds(100),
                           .max_backoff = absl::Milliseconds(350)};
  FailedAttempt failed{.code = absl::StatusCode::kUnavailable,
                       .remaining = kMinute};
  const int expected_ms[] = {100, 200, 350, 350};
  for (int ms : expected_ms) {
    const auto pause = policy.Pause(failed, /*random=*/0.5);
    ASSERT_TRUE(pause.has_value());
    EXPECT_EQ(absl::ToInt64Microseconds(*pause + absl::Nanoseconds(500)),
              ms * 1000);
    ++failed.attempts;
  }
}

TEST(RetryPolicyTest, RandomSpreadsThePause) {
  const RetryPolicy policy{.initial_backoff = absl::Milliseconds(100)};
  const FailedAttempt failed{.code = absl::StatusCode::kUnavailable,
                             .remaining = kMinute};
  EXPECT_EQ(policy.Pause(failed, 0.0), absl::Milliseconds(80));
  const auto longest = policy.Pause(failed, 0.999);
  EXPECT_GT(*longest, absl::Milliseconds(119));
  EXPECT_LT(*longest, absl::Milliseconds(120));
}

TEST(RetryPolicyTest, EndsAfterTheLastAttempt) {
  const RetryPolicy policy{.max_attempts = 3};
  FailedAttempt failed{.attempts = 2,
                       .code = absl::StatusCode::kUnavailable,
                       .remaining = kMinute};
  EXPECT_TRUE(policy.Pause(failed, 0).has_value());
  failed.attempts = 3;
  EXPECT_FALSE(policy.Pause(failed, 0).has_value());
}

TEST(RetryPolicyTest, OnlyCodesThatMayPass) {
  for (int code = 0; code <= 16; ++code) {
    const FailedAttempt failed{.code = static_cast<absl::StatusCode>(code),
                               .remaining = kMinute};
    EXPECT_EQ(RetryPolicy().Pause(failed, 0).has_value(),
              failed.code == absl::StatusCode::kUnavailable)
        << failed.code;
  }
}

TEST(RetryPolicyTest, TakesTheServersPause) {
  FailedAttempt failed{.code = absl::StatusCode::kResourceExhausted,
                       .pushback = absl::Milliseconds(1234),
                       .remaining = kMinute};
  EXPECT_EQ(RetryPolicy().Pause(failed, 0.9), absl::Milliseconds(1234));
  failed.code = absl::StatusCode::kUnavailable;
  EXPECT_EQ(RetryPolicy().Pause(failed, 0.9), absl::Milliseconds(1234));
  failed.pushback = absl::ZeroDuration();
  EXPECT_EQ(RetryPolicy().Pause(failed, 0.9), absl::ZeroDuration());
}

TEST(RetryPolicyTest, NegativePushbackForbids) {
  const FailedAttempt failed{.code = absl::StatusCode::kUnavailable,
                             .pushback = absl::Milliseconds(-1),
                             .remaining = kMinute};
  EXPECT_FALSE(RetryPolicy().Pause(failed, 0).has_value());
}

TEST(RetryPolicyTest, NoPauseBeyondTheDeadline) {
  FailedAttempt failed{.code = absl::StatusCode::kUnavailable,
                       .pushback = absl::Seconds(2),
                       .remaining = absl::Seconds(2)};
  EXPECT_FALSE(RetryPolicy().Pause(failed, 0).has_value());
  failed.remaining += absl::Milliseconds(1);
  EXPECT_TRUE(RetryPolicy().Pause(failed, 0).has_value());
}

}  // namespace
}  // namespace attend
