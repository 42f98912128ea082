// Calls that record profiles, with a control that a test plays.

#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <utility>

#include "server/tenants/tenants.h"
#include "tests/server/service/service_fixture.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class FakeProfiles final : public ProfileControl {
 public:
  absl::StatusOr<int64_t> Start(absl::Duration time, std::string by,
                                Done done) override {
    MutexLock lock(mutex_);
    if (!refusal.ok()) return refusal;
    time_ = time;
    by_ = std::move(by);
    done_ = std::move(done);
    return 7;
  }
  void Cancel(int64_t profile) override {
    MutexLock lock(mutex_);
    EXPECT_EQ(profile, 7);
    cancelled_ = true;
  }
  // Once a profile has begun, it ends so.
  void End(absl::StatusOr<Trace> trace) {
    EXPECT_TRUE(WaitUntil([this] { return began(); }));
    MutexLock lock(mutex_);
    const Done done = std::exchange(done_, nullptr);
    lock.unlock();
    done(std::move(trace));
  }
  bool began() {
    MutexLock lock(mutex_);
    return done_ != nullptr;
  }
  bool cancelled() {
    MutexLock lock(mutex_);
    return cancelled_;
  }
  absl::Duration time() {
    MutexLock lock(mutex_);
    return time_;
  }
  std::string by() {
    MutexLock lock(mutex_);
    return by_;
  }

  absl::Status refusal;

 private:
  Mutex mutex_;
  absl::Duration time_ ABSL_GUARDED_BY(mutex_);
  std::string by_ ABSL_GUARDED_BY(mutex_);
  Done done_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

ProfileControl::Trace TraceOf(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

class ProfileCallTest : public ServiceFixture {
 protected:
  ProfileCallTest() : ServiceFixture(AdminMethods()) {
    service_.profiles = &profiles_;
  }
  // A call whose profile ends so.
  LocalCall& Run(LocalCall& call,
                 const absl::StatusOr<ProfileControl::Trace>& trace) {
    std::thread control([&] { profiles_.End(trace); });
    call.Run();
    control.join();
    return call;
  }
  static std::string TextOf(const LocalCall& call, size_t pieces) {
    const auto answers = call.answers<v1::ProfileChunk>();
    EXPECT_EQ(answers.size(), pieces);
    std::string text;
    for (const v1::ProfileChunk& answer : answers) {
      EXPECT_LE(answer.trace().size(), size_t{1} << 20);
      text += answer.trace();
    }
    return text;
  }

  FakeProfiles profiles_;
  v1::ProfileRequest request_;
};

TEST_F(ProfileCallTest, TheTraceComesInPieces) {
  Build({});
  std::string text(size_t{5} << 19, 'a');  // two and a half
  text.back() = 'z';
  {
    LocalCall call = NewCall("Profile", request_);
    Run(call, TraceOf(text));
    EXPECT_EQ(call.end(), absl::OkStatus());
    EXPECT_TRUE(TextOf(call, 3) == text);
    EXPECT_EQ(profiles_.time(), absl::Seconds(5));
    EXPECT_EQ(profiles_.by(), "call local");
    EXPECT_FALSE(profiles_.cancelled());
  }
  text.resize(size_t{1} << 20);
  request_.mutable_duration()->set_seconds(1);
  request_.mutable_duration()->set_nanos(500'000'000);
  LocalCall whole = NewCall("Profile", request_);
  Run(whole, TraceOf(text));
  EXPECT_TRUE(TextOf(whole, 1) == text);
  EXPECT_EQ(profiles_.time(), absl::Seconds(1.5));
}

TEST_F(ProfileCallTest, ATraceIsKeptUntilItsLastPieceIsOnItsWay) {
  Build({});
  ProfileControl::Trace trace = TraceOf("{}");
  const std::weak_ptr<const std::string> kept = trace;
  LocalCall call = NewCall("Profile", request_);
  std::thread control([&] { profiles_.End(std::move(trace)); });
  call.Run();
  control.join();
  EXPECT_TRUE(kept.expired());
}

TEST_F(ProfileCallTest, AProfileThatFailsEndsItsCall) {
  Build({});
  const absl::Status failed = absl::ResourceExhaustedError("no memory");
  LocalCall call = NewCall("Profile", request_);
  Run(call, failed);
  EXPECT_EQ(call.end(), failed);
  EXPECT_EQ(TextOf(call, 0), "");

  profiles_.refusal = absl::FailedPreconditionError("another");
  LocalCall refused = NewCall("Profile", request_);
  refused.Run();
  EXPECT_EQ(refused.end(), profiles_.refusal);
}

TEST_F(ProfileCallTest, WhoLeavesEndsTheProfile) {
  Build({});
  {
    LocalCall call = NewCall("Profile", request_);
    call.Submit();
    EXPECT_TRUE(WaitUntil([this] { return profiles_.began(); }));
    EXPECT_FALSE(profiles_.cancelled());
    call.Cancel();
    call.Await();
    EXPECT_FALSE(call.end().has_value());
    EXPECT_TRUE(profiles_.cancelled());
  }
  // The call is gone before its profile is.
  profiles_.End(absl::CancelledError("cancelled"));
}

TEST_F(ProfileCallTest, ACallThatIsCutSaysSo) {
  Build({});
  LocalCall call = NewCall("Profile", request_);
  call.Submit();
  EXPECT_TRUE(WaitUntil([this] { return profiles_.began(); }));
  environment_->Cut();
  std::thread control([&] { profiles_.End(TraceOf("{}")); });
  call.Await();
  control.join();
  EXPECT_EQ(TextOf(call, 0), "");
}

TEST_F(ProfileCallTest, OfTenantsOnlyAdministratorsMayAsk) {
  Tenants tenants(metrics_);
  service_.tenants = &tenants;
  profiles_.refusal = absl::ResourceExhaustedError("reached");
  Build({});
  TenantSettings tenant;
  tenant.name = "t";
  tenant.keys = {HashKey("key")};
  for (const bool administrator : {false, true}) {
    tenant.administrator = administrator;
    tenants.Set({tenant}, clock_.Now());
    LocalCall call =
        NewCall("Profile", request_, {.authorization = "Bearer key"});
    call.Run();
    EXPECT_EQ(call.end()->code(), administrator
                                      ? absl::StatusCode::kResourceExhausted
                                      : absl::StatusCode::kPermissionDenied);
  }
}

TEST_F(ProfileCallTest, AServerWithoutProfilesSaysSo) {
  service_.profiles = nullptr;
  Build({});
  LocalCall call = NewCall("Profile", request_);
  call.Run();
  EXPECT_EQ(call.end()->code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace attend
