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

// The models of this process, each with a scheduler of its own: its queue, its
// limits, its worker. The workers take turns, since the engines share one
// Compute. A model that could not be loaded has its place here too, with the
// reason.
//
// Add() all of them, then serve: Add() while calls run is a bug.
class ServedModels {
 public:
  // All must outlive this.
  ServedModels(const SchedulerOptions& options, const Clock& clock,
               Metrics& metrics, StepSignal& step_signal)
      : options_(options),
        clock_(clock),
        metrics_(metrics),
        step_signal_(step_signal) {}

  // A model, which takes requests from now on, or why there is none. What the
  // reason has that is not printable ASCII is replaced: clients see it.
  void Add(absl::string_view name, absl::StatusOr<Model> model);

  // In the order in which they were added.
  const std::vector<ModelEntry>& entries() const { return entries_; }
  // Models that take requests.
  int ready() const { return static_cast<int>(serving_.size()); }

  // As Scheduler::Drain(), and WaitUntilIdle() with one timeout for all.
  void Drain();
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
  std::deque<Serving> serving_;  // they stay in their places
  std::vector<ModelEntry> entries_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SERVED_MODELS_H_
