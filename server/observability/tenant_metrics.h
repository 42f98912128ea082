#ifndef ATTEND_SERVER_OBSERVABILITY_TENANT_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_TENANT_METRICS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace prometheus {
struct MetricFamily;
}

namespace attend {

// The limit of a tenant by which the server refused a call or an input.
enum class TenantRefusal { kCallRate, kTokenRate, kQueuedInputs, kModel };
inline constexpr int kNumTenantRefusals = 4;

// The counters of one tenant. Its series, with label `tenant`, exist
// as long as this object. Thread-safe, as CallMetrics are.
class TenantMetrics {
 public:
  explicit TenantMetrics(const std::string& tenant);
  ~TenantMetrics();

  std::vector<prometheus::MetricFamily> Collect() const;

  // A call has ended.
  void OnCall(absl::StatusCode code);
  void OnSourceTokens(int tokens);
  void OnGeneratedTokens(int tokens);
  // A call was refused; with kQueuedInputs, an input.
  void OnRefused(TenantRefusal reason);

 private:
  struct Series;
  const std::unique_ptr<Series> series_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_TENANT_METRICS_H_
