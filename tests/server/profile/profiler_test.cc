#include "server/profile/profiler.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "engine/compute/compute.h"
#include "engine/compute/op_timer.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

using SharedProfile = std::shared_ptr<const Profile>;

class ProfilerTest : public ::testing::Test {
 protected:
  absl::StatusOr<int64_t> Start(absl::Duration time) {
    return profiler_.Start(time, "me",
                           [this](absl::StatusOr<SharedProfile> profile) {
                             const std::lock_guard<std::mutex> lock(mutex_);
                             EXPECT_FALSE(profile_.has_value());
                             profile_ = std::move(profile);
                             changed_.notify_all();
                           });
  }
  absl::StatusOr<SharedProfile> AwaitEnd() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return profile_.has_value(); });
    return *std::exchange(profile_, std::nullopt);
  }
  SharedProfile Await() {
    absl::StatusOr<SharedProfile> profile = AwaitEnd();
    EXPECT_TRUE(profile.ok()) << profile.status();
    return *std::move(profile);
  }

  Compute compute_{{.threads = 2}};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<absl::StatusOr<SharedProfile>> profile_;
  Profiler profiler_{"test"};
};

TEST_F(ProfilerTest, RecordsWhatIsComputedOneProfileAtATime) {
  ASSERT_TRUE(Start(Profiler::kMaxTime).ok());
  const absl::Status second = Start(absl::Seconds(1)).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.message(), HasSubstr("of 1m is recorded already (me)"));
  {
    const OpTimer timer({.name = "some_op", .rows = 5});
    compute_.team().Run([](int) {});
  }
  profiler_.End();
  const SharedProfile profile = Await();
  EXPECT_EQ(profile->dropped, 0);
  const Json trace = Json::parse(profile->trace);
  int ops = 0, parts = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "some_op") ++(event.contains("args") ? ops : parts);
  }
  EXPECT_EQ(ops, 1);
  EXPECT_EQ(parts, 2);
  // The end is the end.
  EXPECT_EQ(Start(absl::Seconds(1)).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(WatchOfOps(), nullptr);
}

TEST_F(ProfilerTest, OneFollowsTheOther) {
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(*Start(absl::Milliseconds(1)), i);
    Await();
  }
}

TEST_F(ProfilerTest, NoneFollowsWhileTheOneBeforeIsThere) {
  ASSERT_TRUE(Start(absl::Milliseconds(1)).ok());
  SharedProfile profile = Await();
  const absl::Status second = Start(absl::Milliseconds(1)).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.message(), HasSubstr("still on its way"));
  profile.reset();
  ASSERT_TRUE(Start(absl::Milliseconds(1)).ok());
  Await();
}

TEST_F(ProfilerTest, OneThatIsCancelledEndsWithoutATrace) {
  const int64_t first = *Start(absl::Milliseconds(1));
  Await();
  const int64_t second = *Start(Profiler::kMaxTime);
  profiler_.Cancel(first);  // is no more
  EXPECT_EQ(Start(absl::Seconds(1)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  profiler_.Cancel(second);
  EXPECT_EQ(AwaitEnd().status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(WatchOfOps(), nullptr);
  ASSERT_TRUE(Start(absl::Milliseconds(1)).ok());
  Await();
}

TEST_F(ProfilerTest, TimesHaveALimit) {
  for (const absl::Duration time :
       {absl::ZeroDuration(), absl::Seconds(-1), absl::Seconds(60.001),
        absl::InfiniteDuration(),
        absl::Seconds(std::numeric_limits<double>::quiet_NaN())}) {
    const absl::Status status = Start(time).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("must be in (0, 60s]"));
  }
}

}  // namespace
}  // namespace attend
