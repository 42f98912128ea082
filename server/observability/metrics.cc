#include "server/observability/metrics.h"

#include <prometheus/text_serializer.h>

#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "server/observability/metric_series.h"
#include "server/observability/process_metrics.h"

namespace attend {

struct Metrics::Impl {
  explicit Impl(const std::vector<std::string>& names)
      : methods(names),
        other_calls(registry, "", methods),
        connections(registry) {}

  void SetReady(absl::string_view model, bool ready) {
    SeriesMaker(registry, {{"model", std::string(model)}})
        .NewGauge("attend_model_ready",
                  "1: the model takes requests; 0: it could not be loaded.")
        .Set(ready ? 1 : 0);
  }

  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  ProcessMetrics process;
  const std::vector<std::string> methods;
  CallMetrics other_calls;
  ConnectionMetrics connections;

  // Guarded by `mutex`. References to their elements stay valid.
  std::mutex mutex;
  std::deque<ModelMetrics> models;
  std::deque<CallMetrics> broken;
  std::map<std::string, TenantMetrics> tenants;
};

Metrics::Metrics(absl::string_view version,
                 const std::vector<std::string>& methods)
    : impl_(std::make_unique<Impl>(methods)) {
  SeriesMaker(impl_->registry, {})
      .NewGauge("attend_build_info", "The build of the server; always 1.",
                {{"version", std::string(version)}, {"compiler", __VERSION__}})
      .Set(1);
}

Metrics::~Metrics() = default;

ModelMetrics& Metrics::AddModel(const ModelInfo& model) {
  impl_->SetReady(model.name, true);
  SeriesMaker(impl_->registry, {{"model", model.name}})
      .NewGauge("attend_model_info", "A loaded model; always 1.",
                {{"family", model.family}, {"dtype", model.dtype}})
      .Set(1);
  std::lock_guard lock(impl_->mutex);
  return impl_->models.emplace_back(impl_->registry, model, impl_->methods);
}

CallMetrics& Metrics::AddBrokenModel(absl::string_view name) {
  impl_->SetReady(name, false);
  std::lock_guard lock(impl_->mutex);
  return impl_->broken.emplace_back(impl_->registry, name, impl_->methods);
}

CallMetrics& Metrics::other_calls() { return impl_->other_calls; }

ConnectionMetrics& Metrics::connections() { return impl_->connections; }

TenantMetrics& Metrics::AddTenant(const std::string& name) {
  std::lock_guard lock(impl_->mutex);
  return impl_->tenants.try_emplace(name, impl_->registry, name).first->second;
}

void Metrics::SetCertificateEnd(absl::Time end) {
  SeriesMaker(impl_->registry, {})
      .NewGauge("attend_tls_certificate_expiry_timestamp_seconds",
                "When the certificate that is served ends, since the epoch.")
      .Set(absl::ToDoubleSeconds(end - absl::UnixEpoch()));
}

std::string Metrics::Serialize() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  std::vector<prometheus::MetricFamily> process = impl_->process.Collect();
  families.insert(families.end(), std::make_move_iterator(process.begin()),
                  std::make_move_iterator(process.end()));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace attend
