#ifndef ATTEND_SERVER_OBSERVABILITY_CALL_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_CALL_METRICS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace prometheus {
class Registry;
}

namespace attend {

// Why work was turned away before it was queued.
enum class RejectReason {
  kQueueFull,
  kTokenizerFull,
  kDraining,
  kInvalid,
  kTenantLimit  // calls or inputs: one of the tenant's own limits
};
inline constexpr int kNumRejectReasons = 5;

// What is counted of the calls that one model gets. Thread-safe; an observation
// takes a lock only of the series that it changes, and makes a series that is
// used for the first time.
class CallMetrics {
 public:
  // For the series of label `model` in `registry`, which must outlive this; of
  // calls of `methods`.
  CallMetrics(prometheus::Registry& registry, absl::string_view model,
              const std::vector<std::string>& methods);
  ~CallMetrics();

  // A call of one of the methods has ended; `duration` is from its arrival to
  // its end.
  void OnCall(absl::string_view method, absl::StatusCode code,
              absl::Duration duration);
  // An input was turned away.
  void OnRejected(RejectReason reason);
  // A call was cancelled since its client did not read.
  void OnSlowReader();

 private:
  struct Series;
  const std::unique_ptr<Series> series_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_CALL_METRICS_H_
