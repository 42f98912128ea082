#ifndef ATTEND_SERVER_APP_SERVED_MODELS_H_
#define ATTEND_SERVER_APP_SERVED_MODELS_H_

#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/runtime/model.h"
#include "server/observability/metrics.h"
#include "server/scheduler/scheduler.h"
#include "server/service/service.h"
#include "server/service/step_signal.h"

namespace attend {

// The models of this process. Each has a scheduler of its own: a queue, limits
// and a worker. The workers take turns, because the engines share one Compute.
// A model that could not be loaded has an entry too, with the reason why.
//
// All models are added before calls run; then no entry changes any more.
class ServedModels {
 public:
  // The arguments must outlive the ServedModels. `options` are those of each
  // model.
  ServedModels(const SchedulerOptions& options, const Clock& clock,
               Metrics& metrics, StepSignal& step_signal)
      : options_(options),
        clock_(clock),
        metrics_(metrics),
        step_signal_(step_signal) {}

  // Adds a model, or the reason why it could not be loaded. A model takes
  // requests from now on. Clients see the reason, with '?' in place of
  // characters that are not printable ASCII.
  void Add(absl::string_view name, absl::StatusOr<Model> model);

  // In the order in which they were added.
  const std::vector<ModelEntry>& entries() const { return entries_; }
  // The number of models that take requests.
  int ready() const { return static_cast<int>(serving_.size()); }

  // Scheduler::Drain() of all models.
  void Drain();
  // True when no model computes a request any more; false if `timeout` passed
  // first.
  bool WaitUntilIdle(absl::Duration timeout);

 private:
  struct Serving {
    Serving(Model loaded, ModelMetrics& metrics, ServedModels& owner);

    const Model model;
    Scheduler scheduler;  // ends before its model
  };

  const SchedulerOptions options_;
  const Clock& clock_;
  Metrics& metrics_;
  StepSignal& step_signal_;
  Turns turns_;
  std::deque<Serving> serving_;  // a deque: references to elements stay valid
  std::vector<ModelEntry> entries_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SERVED_MODELS_H_
