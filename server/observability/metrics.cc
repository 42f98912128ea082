#include "server/observability/metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "engine/tensor/mutex.h"
#include "server/observability/exemplars.h"
#include "server/observability/log_metrics.h"
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

  // All metrics as they are now.
  std::vector<prometheus::MetricFamily> Collect();
  ExemplarMap CollectExemplars();

  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  ProcessMetrics process;
  LogMetrics logs;
  const std::vector<std::string> methods;
  CallMetrics other_calls;
  ConnectionMetrics connections;
  SpanMetrics spans;

  Mutex mutex;
  std::map<std::string, std::weak_ptr<ModelMetrics>> models
      ABSL_GUARDED_BY(mutex);
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

// Entries by name, for as long as somebody has them.
template <class Entry>
using Entries = std::map<std::string, std::weak_ptr<Entry>>;

// The entry of that name, which is made if nobody has one.
template <class Entry, class... Arguments>
std::shared_ptr<Entry> FindOrMake(Entries<Entry>& entries,
                                  const std::string& name,
                                  const Arguments&... arguments) {
  std::erase_if(entries, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<Entry>& known = entries[name];
  std::shared_ptr<Entry> entry = known.lock();
  if (entry == nullptr) {
    entry = std::make_shared<Entry>(name, arguments...);
    known = entry;
  }
  return entry;
}

// The series of all entries, a family once.
template <class Entry>
std::vector<prometheus::MetricFamily> CollectAll(
    const Entries<Entry>& entries) {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& [name, known] : entries) {
    if (const auto entry = known.lock()) Merge(entry->Collect(), families);
  }
  return families;
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

std::shared_ptr<ModelMetrics> Metrics::AddModel(const std::string& name) {
  MutexLock lock(impl_->mutex);
  return FindOrMake(impl_->models, name, impl_->methods);
}

void Metrics::OnLoad(const std::string& model, bool loaded) {
  MutexLock lock(impl_->mutex);
  const auto found = impl_->models.find(model);
  const std::shared_ptr<ModelMetrics> known =
      found == impl_->models.end() ? nullptr : found->second.lock();
  if (known != nullptr) return known->OnLoad(loaded);
  ModelMetrics::CountLoad(impl_->registry, "", loaded);
}

CallMetrics& Metrics::other_calls() { return impl_->other_calls; }

ConnectionMetrics& Metrics::connections() { return impl_->connections; }

SpanMetrics& Metrics::spans() { return impl_->spans; }

std::shared_ptr<TenantMetrics> Metrics::AddTenant(const std::string& name) {
  MutexLock lock(impl_->mutex);
  return FindOrMake(impl_->tenants, name);
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

void Metrics::AddLog(const std::string& name,
                     std::function<int64_t()> dropped) {
  impl_->logs.Add(name, std::move(dropped));
}

std::vector<prometheus::MetricFamily> Metrics::Impl::Collect() {
  std::vector<prometheus::MetricFamily> families = registry.Collect();
  {
    MutexLock lock(mutex);
    Merge(CollectAll(models), families);
    Merge(CollectAll(tenants), families);
  }
  Merge(logs.Collect(), families);
  std::vector<prometheus::MetricFamily> of_process = process.Collect();
  families.insert(families.end(), std::make_move_iterator(of_process.begin()),
                  std::make_move_iterator(of_process.end()));
  return families;
}

ExemplarMap Metrics::Impl::CollectExemplars() {
  ExemplarMap exemplars;
  other_calls.AddExemplars(exemplars);
  MutexLock lock(mutex);
  for (const auto& [name, known] : models) {
    if (const auto model = known.lock()) model->AddExemplars(exemplars);
  }
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
