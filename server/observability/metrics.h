#ifndef ATTEND_SERVER_OBSERVABILITY_METRICS_H_
#define ATTEND_SERVER_OBSERVABILITY_METRICS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"
#include "server/observability/call_metrics.h"
#include "server/observability/connection_metrics.h"
#include "server/observability/model_metrics.h"
#include "server/observability/span_metrics.h"
#include "server/observability/tenant_metrics.h"

namespace attend {

// Everything that Attend tells Prometheus: about the process, and about each
// model under its name. Gauges, and totals without further labels, exist from
// the time a model is added, with the value 0. Histograms, and totals by
// method, code or reason, come when they are used first: of most there is
// nothing to tell. Thread-safe. Owns what its methods return, as a reference.
class Metrics {
 public:
  // `version`: the version of the build. `methods`: the names of all methods.
  Metrics(absl::string_view version, const std::vector<std::string>& methods);
  ~Metrics();

  // Returns the metrics of a model that is not served yet; the same object for
  // the same name while it is in use. Its series end with the last user.
  std::shared_ptr<ModelMetrics> AddModel(const std::string& name);
  // A model was loaded, or could not be. Series are of those that somebody has;
  // the label `model` of others is empty.
  void OnLoad(const std::string& model, bool loaded);
  // For calls that belong to no model, or that ended before their model was
  // known. The label `model` is empty.
  CallMetrics& other_calls();
  ConnectionMetrics& connections();
  SpanMetrics& spans();
  // Returns the metrics of a tenant; the same object for the same name while it
  // is in use. Its series end with the last user.
  std::shared_ptr<TenantMetrics> AddTenant(const std::string& name);
  // The certificate of the ports ends then. There is no such series before.
  void SetCertificateEnd(absl::Time end);

  // Sets the compute threads: once, at startup.
  void SetCompute(int threads, absl::string_view isa);

  // A log, and how many of its lines were dropped so far. To be called before
  // anybody reads metrics; `dropped` is called as long as somebody does.
  void AddLog(const std::string& name, std::function<int64_t()> dropped);

  // Returns all metrics in Prometheus' text format, with current process
  // metrics.
  std::string Serialize() const;
  // Returns all metrics as OpenMetrics, with exemplars of traced calls.
  std::string SerializeOpenMetrics() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_METRICS_H_
