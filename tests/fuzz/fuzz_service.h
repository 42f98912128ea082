#ifndef ATTEND_TESTS_FUZZ_FUZZ_SERVICE_H_
#define ATTEND_TESTS_FUZZ_FUZZ_SERVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/http_call/http_api.h"
#include "server/observability/metrics.h"
#include "server/scheduler/clock.h"
#include "server/scheduler/turns.h"
#include "server/service/model_control.h"
#include "server/service/profile_control.h"
#include "server/service/service_call.h"
#include "server/service/step_signal.h"
#include "server/service/work_pool.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_tokenizer.h"

namespace attend {

// What serves fake models, one of each kind: "translator", which embeds and
// fills masks, too, "labels", "tags", "chat" with a template, and "broken",
// which could not be loaded. Their limits are low, so that a request takes
// little time. What changes models or records a profile seems to do so.
class FuzzService {
 public:
  // Those of attend.v1.Attend, of the Open Inference Protocol, of reflection,
  // and of attend.v1.Admin.
  static std::vector<Method> Methods();

  // `apis`: those over HTTP whose calls are counted, too.
  explicit FuzzService(const std::vector<HttpApi>& apis = {});
  ~FuzzService();

  CallEnvironment& calls() { return *calls_; }
  StepSignal& step_signal() { return step_signal_; }
  Metrics& metrics() { return metrics_; }
  Log& log() { return log_; }
  // Returns when no request is left in a scheduler.
  void WaitUntilFree() const;

 private:
  struct Serving {
    std::unique_ptr<FakeEngine> engine;
    std::unique_ptr<ChatTemplate> chat;
    std::unique_ptr<Scheduler> scheduler;
  };

  // Ends each change as soon as there is one. NOT_FOUND: there is no such
  // model.
  class Control final : public ModelControl {
   public:
    explicit Control(FuzzService& service) : service_(service) {}
    absl::Status Submit(ModelChange change, Done done) override;

   private:
    FuzzService& service_;
  };
  class Profiles final : public ProfileControl {
   public:
    explicit Profiles(FuzzService& service) : service_(service) {}
    absl::StatusOr<int64_t> Start(absl::Duration time, std::string,
                                  Done done) override;
    void Cancel(int64_t) override {}

   private:
    FuzzService& service_;
  };

  // Closed after the log, whose thread writes to it.
  struct NullDevice {
    NullDevice();
    ~NullDevice();
    const int descriptor;
  };

  void Add(FakeEngineOptions options, std::unique_ptr<ChatTemplate> chat);
  // Runs `work` on a thread that is none of the ports', and tells the ports.
  void RunApart(std::function<void()> work);

  const NullDevice null_;
  const SteadyClock clock_;
  StepSignal step_signal_;
  Metrics metrics_;
  Log log_;
  const FakeTokenizer tokenizer_;
  Turns turns_;
  std::vector<Serving> serving_;
  std::vector<std::shared_ptr<ModelMetrics>> model_metrics_;
  ModelTable models_;
  Control control_{*this};
  Profiles profiles_{*this};
  Service service_;
  std::optional<CallEnvironment> calls_;
  WorkPool apart_{/*threads=*/1, /*max_queued=*/64};
};

}  // namespace attend

#endif  // ATTEND_TESTS_FUZZ_FUZZ_SERVICE_H_
