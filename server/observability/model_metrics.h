#ifndef ATTEND_SERVER_OBSERVABILITY_MODEL_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_MODEL_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <atomic>
#include <cstdint>
#include <map>
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

// A registry that is constructed before the classes that add series to it.
struct OwnRegistry {
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
};

// The metrics of one name of a model: its calls, and if it is served, its
// requests and steps. They continue when the model is reloaded. Thread-safe,
// like CallMetrics.
class ModelMetrics : private OwnRegistry, public CallMetrics {
 public:
  ModelMetrics(const std::string& name,
               const std::vector<std::string>& methods);
  ~ModelMetrics();

  // The model is served, in this version, from now on: it is ready. To be
  // called by one thread at a time, and before the functions about requests and
  // steps.
  void Serve(const ModelInfo& model, int64_t version);
  // The model could not be loaded: it is not ready.
  void Break();
  // The model is served no more, though its last calls may run: nothing tells
  // whether it is ready.
  void Withdraw();

  // In a `registry` that need not be this one's.
  static void CountLoad(prometheus::Registry& registry,
                        const std::string& model, bool loaded);
  void OnLoad(bool loaded) { CountLoad(registry, name_, loaded); }
  // A call of an alias came to the model, which is served in that version.
  void OnAlias(const std::string& alias, int64_t version);
  // There is no such alias any more: its series goes.
  void ForgetAlias(const std::string& alias);
  // A request has ended. Times that were not reached are InfinitePast.
  void OnRequest(const RequestTimes& times, int source_tokens,
                 int generated_tokens);
  // The time between two outputs of one running generation.
  void OnInterToken(absl::Duration gap);
  // CountStep(), then SetLevels().
  void OnStep(const StepReport& report);
  void CountStep(const StepReport& report);
  // The gauges of what waits and runs.
  void SetLevels(const StepReport& report);
  // A call whose inputs the engine got has ended.
  void OnInference(bool success, int computed_inputs, const CallParts& call,
                   absl::Time now);
  // The totals for ModelStatistics of the Open Inference Protocol.
  InferenceTotals inference_totals() const;
  // For a model that is served.
  void SetReady(bool ready);
  std::vector<prometheus::MetricFamily> Collect() const;

 private:
  struct Series;
  using Gauges = prometheus::Family<prometheus::Gauge>;
  // The calls of an alias that came to a version.
  struct AliasCalls {
    int64_t version = 0;
    prometheus::Counter* count = nullptr;
  };

  void RemoveGauges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  Gauges& readiness_;
  Gauges& infos_;
  std::unique_ptr<Series> series_;  // null: it was never served
  std::atomic<int64_t> steps_{0};
  mutable Mutex mutex_;
  prometheus::Gauge* ready_ ABSL_GUARDED_BY(mutex_) = nullptr;  // or not told
  prometheus::Gauge* info_ ABSL_GUARDED_BY(mutex_) = nullptr;   // or not served
  // Null: there were no such calls.
  prometheus::Family<prometheus::Counter>* alias_calls_
      ABSL_GUARDED_BY(mutex_) = nullptr;
  std::map<std::string, AliasCalls> aliases_ ABSL_GUARDED_BY(mutex_);
  InferenceTotals totals_ ABSL_GUARDED_BY(mutex_);  // but its steps
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_MODEL_METRICS_H_
