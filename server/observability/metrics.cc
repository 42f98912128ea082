#include "server/observability/metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "engine/tensor/mutex.h"
#include "server/observability/exemplars.h"
#include "server/observability/metric_series.h"
#include "server/observability/open_metrics.h"
#include "server/observability/process_metrics.h"

namespace attend {

struct Metrics::Impl {
  explicit Impl(const std::vector<std::string>& names)
      : methods(names),
        other_calls(registry, "", methods),
        connections(registry),
        spans(registry) {}

  std::vector<std::shared_ptr<TenantMetrics>> Tenants();
  // All metrics as they are now.
  std::vector<prometheus::MetricFamily> Collect();
  ExemplarMap CollectExemplars();

  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  ProcessMetrics process;
  const std::vector<std::string> methods;
  CallMetrics other_calls;
  ConnectionMetrics connections;
  SpanMetrics spans;

  Mutex mutex;
  // References to their elements stay valid.
  std::deque<ModelMetrics> models ABSL_GUARDED_BY(mutex);
  std::deque<CallMetrics> broken ABSL_GUARDED_BY(mutex);
  std::map<std::string, std::weak_ptr<TenantMetrics>> tenants
      ABSL_GUARDED_BY(mutex);
};

namespace {

// Adds the series of `more`. A family must not occur twice in a page.
void Merge(std::vector<prometheus::MetricFamily> more,
           std::vector<prometheus::MetricFamily>& families) {
  for (prometheus::MetricFamily& family : more) {
    const auto same = std::find_if(
        families.begin(), families.end(),
        [&](const auto& other) { return other.name == family.name; });
    if (same == families.end()) {
      families.push_back(std::move(family));
    } else {
      std::move(family.metric.begin(), family.metric.end(),
                std::back_inserter(same->metric));
    }
  }
}

}  // namespace

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
  SeriesMaker(impl_->registry, {{"model", model.name}})
      .NewGauge("attend_model_info", "A loaded model; always 1.",
                {{"family", model.family}, {"dtype", model.dtype}})
      .Set(1);
  MutexLock lock(impl_->mutex);
  return impl_->models.emplace_back(impl_->registry, model, impl_->methods);
}

CallMetrics& Metrics::AddBrokenModel(absl::string_view name) {
  NewReadyGauge(SeriesMaker(impl_->registry, {{"model", std::string(name)}}))
      .Set(0);
  MutexLock lock(impl_->mutex);
  return impl_->broken.emplace_back(impl_->registry, name, impl_->methods);
}

CallMetrics& Metrics::other_calls() { return impl_->other_calls; }

ConnectionMetrics& Metrics::connections() { return impl_->connections; }

SpanMetrics& Metrics::spans() { return impl_->spans; }

std::shared_ptr<TenantMetrics> Metrics::AddTenant(const std::string& name) {
  MutexLock lock(impl_->mutex);
  std::erase_if(impl_->tenants,
                [](const auto& tenant) { return tenant.second.expired(); });
  std::weak_ptr<TenantMetrics>& known = impl_->tenants[name];
  std::shared_ptr<TenantMetrics> tenant = known.lock();
  if (tenant == nullptr) {
    tenant = std::make_shared<TenantMetrics>(name);
    known = tenant;
  }
  return tenant;
}

std::vector<std::shared_ptr<TenantMetrics>> Metrics::Impl::Tenants() {
  MutexLock lock(mutex);
  std::vector<std::shared_ptr<TenantMetrics>> all;
  for (const auto& [name, known] : tenants) {
    if (auto tenant = known.lock()) all.push_back(std::move(tenant));
  }
  return all;
}

void Metrics::SetCertificateEnd(absl::Time end) {
  SeriesMaker(impl_->registry, {})
      .NewGauge("attend_tls_certificate_expiry_timestamp_seconds",
                "When the certificate that is served ends, since the epoch.")
      .Set(absl::ToDoubleSeconds(end - absl::UnixEpoch()));
}

void Metrics::SetCompute(int threads, absl::string_view isa) {
  SeriesMaker(impl_->registry, {})
      .NewGauge("attend_compute_threads",
                "Threads that compute, and their instruction set.",
                {{"isa", std::string(isa)}})
      .Set(threads);
}

std::vector<prometheus::MetricFamily> Metrics::Impl::Collect() {
  std::vector<prometheus::MetricFamily> families = registry.Collect();
  std::vector<prometheus::MetricFamily> of_tenants;
  for (const auto& tenant : Tenants()) Merge(tenant->Collect(), of_tenants);
  families.insert(families.end(), std::make_move_iterator(of_tenants.begin()),
                  std::make_move_iterator(of_tenants.end()));
  std::vector<prometheus::MetricFamily> of_process = process.Collect();
  families.insert(families.end(), std::make_move_iterator(of_process.begin()),
                  std::make_move_iterator(of_process.end()));
  return families;
}

ExemplarMap Metrics::Impl::CollectExemplars() {
  ExemplarMap exemplars;
  other_calls.AddExemplars(exemplars);
  MutexLock lock(mutex);
  for (const CallMetrics& model : models) model.AddExemplars(exemplars);
  for (const CallMetrics& model : broken) model.AddExemplars(exemplars);
  return exemplars;
}

std::string Metrics::Serialize() const {
  return prometheus::TextSerializer().Serialize(impl_->Collect());
}

std::string Metrics::SerializeOpenMetrics() const {
  // Before the series: what is an exemplar has been counted.
  const ExemplarMap exemplars = impl_->CollectExemplars();
  return ToOpenMetrics(impl_->Collect(), exemplars);
}

}  // namespace attend
