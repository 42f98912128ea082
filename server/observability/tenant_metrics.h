#ifndef ATTEND_SERVER_OBSERVABILITY_TENANT_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_TENANT_METRICS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"

namespace prometheus {
class Registry;
}

namespace attend {

// Which limit of the tenant made the server refuse a call or an input.
enum class TenantRefusal { kCallRate, kTokenRate, kQueuedInputs, kModel };
inline constexpr int kNumTenantRefusals = 4;

// The metrics of one tenant. Thread-safe, like CallMetrics.
class TenantMetrics {
 public:
  // Makes series with the label `tenant` in `registry`, which must outlive the
  // TenantMetrics.
  TenantMetrics(prometheus::Registry& registry, const std::string& tenant);
  ~TenantMetrics();

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
