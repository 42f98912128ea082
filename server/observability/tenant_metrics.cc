#include "server/observability/tenant_metrics.h"

#include <array>

#include "server/observability/metric_series.h"

namespace attend {
namespace {

constexpr std::array<const char*, kNumTenantRefusals> kRefusalNames = {
    "call_rate", "token_rate", "queued_inputs", "model"};

}  // namespace

struct TenantMetrics::Series {
  explicit Series(const std::string& tenant)
      : make(registry, {{"tenant", tenant}}),
        source_tokens(make.NewCounter(
            "attend_tenant_source_tokens_total",
            "Source tokens of the tenant's inputs that were queued.")),
        generated_tokens(
            make.NewCounter("attend_tenant_generated_tokens_total",
                            "Tokens generated (or scored) for the tenant.")) {
    for (int code = 0; code < kNumCodes; ++code) {
      calls[code] =
          make.LateCounter("attend_tenant_requests_total",
                           "Calls of the tenant that ended, by status code.",
                           {{"code", CodeName(code)}});
    }
    for (int r = 0; r < kNumTenantRefusals; ++r) {
      refused[r] = make.LateCounter(
          "attend_tenant_refused_total",
          "Calls, or inputs, that were refused to the tenant, by reason.",
          {{"reason", kRefusalNames[r]}});
    }
  }

  // A separate registry, so all series of a tenant end together.
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  const SeriesMaker make;
  std::array<LateSeries<prometheus::Counter>, kNumCodes> calls;
  std::array<LateSeries<prometheus::Counter>, kNumTenantRefusals> refused;
  prometheus::Counter& source_tokens;
  prometheus::Counter& generated_tokens;
};

TenantMetrics::TenantMetrics(const std::string& tenant)
    : series_(std::make_unique<Series>(tenant)) {}

TenantMetrics::~TenantMetrics() = default;

std::vector<prometheus::MetricFamily> TenantMetrics::Collect() const {
  return series_->registry.Collect();
}

void TenantMetrics::OnCall(absl::StatusCode code) {
  series_->calls[static_cast<int>(code)]->Increment();
}

void TenantMetrics::OnSourceTokens(int tokens) {
  series_->source_tokens.Increment(tokens);
}

void TenantMetrics::OnGeneratedTokens(int tokens) {
  series_->generated_tokens.Increment(tokens);
}

void TenantMetrics::OnRefused(TenantRefusal reason) {
  series_->refused[static_cast<int>(reason)]->Increment();
}

}  // namespace attend
