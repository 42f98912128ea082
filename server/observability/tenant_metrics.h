#ifndef ATTEND_SERVER_OBSERVABILITY_TENANT_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_TENANT_METRICS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"

namespace prometheus {
class Registry;
}

namespace attend {

// Why a tenant was refused what others might have got.
enum class TenantRefusal { kCallRate, kTokenRate, kQueuedInputs, kModel };
inline constexpr int kNumTenantRefusals = 4;

// What is counted of one tenant. Thread-safe, as CallMetrics are.
class TenantMetrics {
 public:
  // The series of label `tenant` in `registry`, which must outlive this.
  TenantMetrics(prometheus::Registry& registry, const std::string& tenant);
  ~TenantMetrics();

  // A call has ended.
  void OnCall(absl::StatusCode code);
  void OnSourceTokens(int tokens);
  void OnGeneratedTokens(int tokens);
  // A call was refused, or, if too many wait, an input.
  void OnRefused(TenantRefusal reason);

 private:
  struct Series;
  const std::unique_ptr<Series> series_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_TENANT_METRICS_H_
