#ifndef ATTEND_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_
#define ATTEND_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "server/observability/metrics.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/turns.h"
#include "tests/server/service/local_call.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_tokenizer.h"
#include "tests/support/manual_clock.h"

namespace attend {

struct FixtureOptions {
  FakeEngineOptions engine;
  int max_tokenizer_queue = 8;
  SchedulerOptions scheduler = {};
};

// One fake model and what serves it. What a test adds to service_ it adds
// before Build().
class ServiceFixture : public ::testing::Test {
 protected:
  // `methods`: those that may be called.
  explicit ServiceFixture(std::vector<Method> methods = AttendMethods())
      : methods_(std::move(methods)) {}

  void Build(const FixtureOptions& options) {
    Stop();
    engine_ = std::make_unique<FakeEngine>(options.engine);
    model_metrics_ = metrics_.AddModel("fake");
    ModelMetrics& model = *model_metrics_;
    model.Serve(engine_->info(), 1);
    scheduler_ = std::make_unique<Scheduler>(
        options.scheduler, *engine_, clock_, turns_,
        [&model](const StepReport& report) { model.OnStep(report); });
    models_.Put(std::make_shared<const ModelEntry>(ModelEntry{
        .name = "fake",
        .calls = model,
        .served = ServedModel{*engine_, tokenizer_, *scheduler_, model}}));
    environment_.emplace(service_, 1, options.max_tokenizer_queue);
  }
  ~ServiceFixture() override { Stop(); }

  // Ends the worker, which may still drop the sequences of ended calls, before
  // its engine goes.
  void Stop() {
    if (engine_ != nullptr) engine_->OpenGate();
    scheduler_.reset();
  }

  LocalCall NewCall(const std::string& name,
                    const google::protobuf::Message& request,
                    const CallerProof& proof = {}) {
    for (const Method& method : methods_) {
      if (method.name() != name) continue;
      return {method, *environment_, request, proof};
    }
    ADD_FAILURE() << "no method " << name;
    return {methods_.front(), *environment_, request};
  }

  // A model that could not be loaded.
  void AddBroken(const std::string& name, const absl::Status& error) {
    broken_metrics_ = metrics_.AddModel(name);
    models_.Put(std::make_shared<const ModelEntry>(
        ModelEntry{.name = name, .calls = *broken_metrics_, .served = error}));
  }

  void ExpectCounted(const std::string& method, const std::string& code) {
    EXPECT_THAT(metrics_.Serialize(),
                ::testing::HasSubstr(absl::StrCat(
                    "attend_requests_total{code=\"", code, "\",method=\"",
                    method, "\",model=\"fake\"} 1")));
  }

  // Closed after the log, whose thread writes to it.
  struct NullDevice {
    const int descriptor = open("/dev/null", O_WRONLY);
    ~NullDevice() { close(descriptor); }
  };
  const NullDevice null_;
  ManualClock clock_;
  const std::vector<Method> methods_;
  Metrics metrics_{"test", MethodNames(methods_)};
  Log log_{LogOptions(), null_.descriptor};
  FakeTokenizer tokenizer_;
  Turns turns_;
  std::unique_ptr<FakeEngine> engine_;
  std::unique_ptr<Scheduler> scheduler_;
  std::shared_ptr<ModelMetrics> model_metrics_;
  std::shared_ptr<ModelMetrics> broken_metrics_;
  ModelTable models_;
  Service service_ = {.models = models_,
                      .clock = clock_,
                      .other_calls = metrics_.other_calls(),
                      .log = log_,
                      .methods = methods_};
  std::optional<CallEnvironment> environment_;
};

inline v1::GenerateRequest Generate(const std::string& text, int tokens) {
  v1::GenerateRequest request;
  request.add_inputs()->set_text(text);
  request.mutable_params()->set_max_new_tokens(tokens);
  return request;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_
