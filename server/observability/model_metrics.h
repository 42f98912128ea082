#ifndef ATTEND_SERVER_OBSERVABILITY_MODEL_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_MODEL_METRICS_H_

#include <prometheus/gauge.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "engine/api/engine.h"
#include "engine/tensor/mutex.h"
#include "server/observability/call_metrics.h"
#include "server/observability/inference_totals.h"
#include "server/scheduler/request.h"
#include "server/scheduler/scheduler.h"

namespace attend {

class SeriesMaker;

// Whether the model is ready whose series `make` makes.
prometheus::Gauge& NewReadyGauge(const SeriesMaker& make);

// The metrics of one model that is served: its calls, requests and steps.
// Thread-safe, like CallMetrics.
class ModelMetrics : public CallMetrics {
 public:
  // Makes the series of the model in `registry`, which must outlive the
  // ModelMetrics.
  ModelMetrics(prometheus::Registry& registry, const ModelInfo& model,
               const std::vector<std::string>& methods);
  ~ModelMetrics();

  // A request has ended. Times that were not reached are InfinitePast.
  void OnRequest(const RequestTimes& times, int source_tokens,
                 int generated_tokens);
  // The time between two outputs of one running generation.
  void OnInterToken(absl::Duration gap);
  void OnStep(const StepReport& report);
  // A call whose inputs the engine got has ended.
  void OnInference(bool success, int computed_inputs, const CallParts& call,
                   absl::Time now);
  // What ModelStatistics of the Open Inference Protocol tells.
  InferenceTotals inference_totals() const;
  // At first a model is ready.
  void SetReady(bool ready);

 private:
  struct Series;
  const std::unique_ptr<Series> series_;
  std::atomic<int64_t> steps_{0};
  mutable Mutex mutex_;
  InferenceTotals totals_ ABSL_GUARDED_BY(mutex_);  // but its steps
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_MODEL_METRICS_H_
