#include "server/profile/profiler.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/compute/compute.h"
#include "engine/compute/op_timer.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ProfilerTest : public ::testing::Test {
 protected:
  Profiler::Done Keep() {
    return [this](absl::StatusOr<Profile> profile) {
      const std::lock_guard<std::mutex> lock(mutex_);
      EXPECT_FALSE(profile_.has_value());
      profile_ = std::move(profile);
      changed_.notify_all();
    };
  }
  Profile Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return profile_.has_value(); });
    EXPECT_TRUE(profile_->ok()) << profile_->status();
    Profile profile = **std::move(profile_);
    profile_.reset();
    return profile;
  }

  Compute compute_{{.threads = 2}};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<absl::StatusOr<Profile>> profile_;
  Profiler profiler_{"test"};
};

TEST_F(ProfilerTest, RecordsWhatIsComputedOneProfileAtATime) {
  ASSERT_TRUE(profiler_.Start(Profiler::kMaxTime, Keep()).ok());
  const absl::Status second = profiler_.Start(absl::Seconds(1), Keep());
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.message(), HasSubstr("one at a time"));
  {
    const OpTimer timer({.name = "some_op", .rows = 5});
    compute_.team().Run([](int) {});
  }
  profiler_.End();
  const Profile profile = Await();
  EXPECT_EQ(profile.dropped, 0);
  const Json trace = Json::parse(profile.trace);
  int ops = 0, parts = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "some_op") ++(event.contains("args") ? ops : parts);
  }
  EXPECT_EQ(ops, 1);
  EXPECT_EQ(parts, 2);
  // The end is the end.
  EXPECT_EQ(profiler_.Start(absl::Seconds(1), Keep()).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(WatchOfOps(), nullptr);
}

TEST_F(ProfilerTest, OneFollowsTheOther) {
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(profiler_.Start(absl::Milliseconds(1), Keep()).ok());
    Await();
  }
}

TEST_F(ProfilerTest, TimesHaveALimit) {
  for (const absl::Duration time :
       {absl::ZeroDuration(), absl::Seconds(-1), absl::Seconds(60.001),
        absl::InfiniteDuration(),
        absl::Seconds(std::numeric_limits<double>::quiet_NaN())}) {
    const absl::Status status = profiler_.Start(time, Keep());
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("must be in (0, 60s]"));
  }
}

}  // namespace
}  // namespace attend
