// Calls that load and unload models, with a control that a test plays.

#include <gmock/gmock.h>

#include <deque>
#include <thread>
#include <utility>

#include "server/tenants/tenants.h"
#include "tests/server/service/service_fixture.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class FakeControl final : public ModelControl {
 public:
  absl::Status Submit(ModelChange change, Done done) override {
    MutexLock lock(mutex_);
    if (!refusal.ok()) return refusal;
    waiting_.emplace_back(std::move(change), std::move(done));
    return absl::OkStatus();
  }
  int waiting() {
    MutexLock lock(mutex_);
    return static_cast<int>(waiting_.size());
  }
  // Ends the change that has waited longest.
  ModelChange End(const absl::Status& status) {
    MutexLock lock(mutex_);
    auto [change, done] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    done(status);
    return change;
  }

  absl::Status refusal;

 private:
  Mutex mutex_;
  std::deque<std::pair<ModelChange, Done>> waiting_ ABSL_GUARDED_BY(mutex_);
};

class ModelChangeTest : public ServiceFixture {
 protected:
  ModelChangeTest() : ServiceFixture(AdminMethods()) {
    service_.control = &control_;
  }

  absl::Status EndOf(const std::string& method,
                     const google::protobuf::Message& request,
                     const CallerProof& proof = {}) {
    LocalCall call = NewCall(method, request, proof);
    call.Run();
    return call.end().value_or(absl::OkStatus());
  }
  static v1::LoadModelRequest LoadOf(const std::string& name,
                                     int64_t version = 0) {
    v1::LoadModelRequest request;
    request.set_name(name);
    request.set_version(version);
    return request;
  }
  // Ends a change of the call as soon as there is one.
  ModelChange RunUntilEnded(LocalCall& call, const absl::Status& status) {
    ModelChange change;
    std::thread control([&] {
      WaitUntil([this] { return control_.waiting() == 1; });
      change = control_.End(status);
    });
    call.Run();
    control.join();
    return change;
  }

  FakeControl control_;
};

TEST_F(ModelChangeTest, ACallEndsWithItsChange) {
  Build({});
  const v1::LoadModelRequest load = LoadOf("fake", 7);
  LocalCall loading = NewCall("LoadModel", load);
  const ModelChange change = RunUntilEnded(loading, absl::OkStatus());
  EXPECT_EQ(change.kind, ModelChange::Kind::kLoad);
  EXPECT_EQ(change.name, "fake");
  EXPECT_EQ(change.version, 7);
  EXPECT_EQ(loading.end(), absl::OkStatus());
  const auto answers = loading.answers<v1::LoadModelResponse>();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].model().name(), "fake");
  EXPECT_TRUE(answers[0].model().ready());
  EXPECT_EQ(answers[0].model().version(), 1);

  v1::UnloadModelRequest unload;
  unload.set_name("other");
  LocalCall unloading = NewCall("UnloadModel", unload);
  const absl::Status unknown = absl::NotFoundError("model 'other'");
  EXPECT_EQ(RunUntilEnded(unloading, unknown).kind, ModelChange::Kind::kUnload);
  EXPECT_EQ(unloading.end(), unknown);
  EXPECT_TRUE(unloading.answers<v1::UnloadModelResponse>().empty());
}

TEST_F(ModelChangeTest, AnAliasHasItsTargets) {
  Build({});
  v1::SetAliasRequest request;
  request.set_name("a");
  request.add_targets()->set_model("fake");
  v1::AliasTarget& second = *request.add_targets();
  second.set_model("fake@2");
  second.set_weight(0);  // is not the same as none
  LocalCall call = NewCall("SetAlias", request);
  const ModelChange change = RunUntilEnded(call, absl::OkStatus());
  EXPECT_EQ(call.end(), absl::OkStatus());
  EXPECT_EQ(change.kind, ModelChange::Kind::kSetAlias);
  EXPECT_EQ(change.name, "a");
  ASSERT_EQ(change.targets.size(), 2u);
  EXPECT_EQ(change.targets[0].model, "fake");
  EXPECT_EQ(change.targets[0].weight, 1);
  EXPECT_EQ(change.targets[1].weight, 0);
}

TEST_F(ModelChangeTest, WhoLeavesWaitsForNothing) {
  Build({});
  const v1::LoadModelRequest load = LoadOf("fake");
  {
    LocalCall call = NewCall("LoadModel", load);
    call.Submit();
    EXPECT_TRUE(WaitUntil([this] { return control_.waiting() == 1; }));
    call.Cancel();
    call.Await();
    EXPECT_FALSE(call.end().has_value());
  }
  // The call is gone, and its change ends nevertheless.
  control_.End(absl::OkStatus());
}

TEST_F(ModelChangeTest, WhatCannotBeAskedForIsRefused) {
  Build({});
  EXPECT_EQ(EndOf("LoadModel", LoadOf("")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(EndOf("LoadModel", LoadOf("m", -1)).message()),
              HasSubstr("version is -1, must be"));
  control_.refusal = absl::ResourceExhaustedError("too many");
  EXPECT_EQ(EndOf("LoadModel", LoadOf("m")), control_.refusal);
  service_.control = nullptr;
  environment_.emplace(service_, 1, 8);
  const absl::Status fixed = EndOf("LoadModel", LoadOf("m"));
  EXPECT_EQ(fixed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(fixed.message()), HasSubstr("model_control"));
}

TEST_F(ModelChangeTest, OfTenantsOnlyAdministratorsMayAsk) {
  Tenants tenants(metrics_);
  service_.tenants = &tenants;
  control_.refusal = absl::ResourceExhaustedError("reached");
  Build({});
  TenantSettings tenant;
  tenant.name = "t";
  tenant.keys = {HashKey("key")};
  const CallerProof proof = {.authorization = "Bearer key"};
  for (const bool administrator : {false, true}) {
    tenant.administrator = administrator;
    tenants.Set({tenant}, clock_.Now());
    const absl::Status status = EndOf("LoadModel", LoadOf("fake"), proof);
    EXPECT_EQ(status.code(), administrator
                                 ? absl::StatusCode::kResourceExhausted
                                 : absl::StatusCode::kPermissionDenied)
        << status;
  }
  tenant.models = {"other"};
  tenants.Set({tenant}, clock_.Now());
  EXPECT_EQ(EndOf("LoadModel", LoadOf("fake"), proof).code(),
            absl::StatusCode::kPermissionDenied);
  // No alias is a way around that.
  v1::SetAliasRequest alias;
  alias.set_name("other");
  alias.add_targets()->set_model("fake");
  EXPECT_EQ(EndOf("SetAlias", alias, proof).code(),
            absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace attend
