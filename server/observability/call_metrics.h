#ifndef ATTEND_SERVER_OBSERVABILITY_CALL_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_CALL_METRICS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/observability/exemplars.h"

namespace prometheus {
class Registry;
}

namespace attend {

// Why work was refused before it was queued.
enum class RejectReason {
  kQueueFull,
  kTokenizerFull,
  kDraining,
  kInvalid,
  kTenantLimit,  // calls or inputs: one of the tenant's own limits
  kMemory        // the system gave none for it
};
inline constexpr int kNumRejectReasons = 6;

// The metrics of the calls that one model gets. Thread-safe. An observation
// locks only the series that it changes. The first observation of a series
// makes the series (see LateSeries).
class CallMetrics {
 public:
  // Makes series with the label `model` in `registry`, which must outlive the
  // CallMetrics. `methods`: the names of all methods.
  CallMetrics(prometheus::Registry& registry, absl::string_view model,
              const std::vector<std::string>& methods);
  ~CallMetrics();

  // A call of one of the methods has ended; `duration` is from its arrival to
  // its end. `trace_id`: of the trace that shows the call, if one does.
  void OnCall(absl::string_view method, absl::StatusCode code,
              absl::Duration duration, absl::string_view trace_id = {});
  // Work was refused before it was queued.
  void OnRejected(RejectReason reason);
  // A call was cancelled because its client did not read.
  void OnSlowReader();
  // Adds those of the histograms of calls.
  void AddExemplars(ExemplarMap& exemplars) const;

 private:
  struct Series;
  const std::unique_ptr<Series> series_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_CALL_METRICS_H_
