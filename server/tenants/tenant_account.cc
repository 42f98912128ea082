#include "server/tenants/tenant_account.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/mutex.h"
#include "server/tenants/version_name.h"

namespace attend {
namespace {

Tenant ToTenant(const TenantSettings& settings) {
  return {.id = absl::Hash<std::string>()(settings.name),
          .weight = settings.weight,
          .max_queued = settings.max_queued_inputs,
          .max_running = settings.max_running_inputs};
}

void SetLimit(const std::optional<RateLimit>& limit, absl::Time now,
              std::optional<RateBucket>& bucket) {
  if (!limit.has_value()) {
    bucket.reset();
  } else if (bucket.has_value()) {
    bucket->SetLimit(*limit, now);
  } else {
    bucket.emplace(*limit, now);
  }
}

}  // namespace

// State that the accounts of one tenant share, over all versions of the file.
struct TenantAccount::Usage {
  explicit Usage(std::shared_ptr<TenantMetrics> metrics_in)
      : metrics(std::move(metrics_in)) {}

  const std::shared_ptr<TenantMetrics> metrics;
  Mutex mutex;
  std::optional<RateBucket> calls ABSL_GUARDED_BY(mutex);
  std::optional<RateBucket> tokens ABSL_GUARDED_BY(mutex);
};

TenantAccount::TenantAccount() = default;

TenantAccount::TenantAccount(TenantSettings settings,
                             const TenantAccount* before,
                             std::shared_ptr<TenantMetrics> metrics,
                             absl::Time now)
    : settings_(std::move(settings)),
      tenant_(ToTenant(settings_)),
      usage_(before != nullptr ? before->usage_
                               : std::make_shared<Usage>(std::move(metrics))) {
  MutexLock lock(usage_->mutex);
  SetLimit(settings_.calls, now, usage_->calls);
  SetLimit(settings_.tokens, now, usage_->tokens);
}

const std::shared_ptr<TenantAccount>& TenantAccount::OfEverybody() {
  static const std::shared_ptr<TenantAccount> account(new TenantAccount());
  return account;
}

bool TenantAccount::MayUse(absl::string_view model) const {
  if (!settings_.models.has_value()) return true;
  const auto listed = [this](absl::string_view name) {
    return std::find(settings_.models->begin(), settings_.models->end(),
                     name) != settings_.models->end();
  };
  const auto version = ParseVersionName(model);
  return listed(model) || (version && listed(version->model));
}

absl::Status TenantAccount::CheckModel(absl::string_view model) {
  if (MayUse(model)) return absl::OkStatus();
  usage_->metrics->OnRefused(TenantRefusal::kModel);
  return absl::PermissionDeniedError(
      absl::StrFormat("tenant '%s' may not use model '%s'", name(), model));
}

absl::Status TenantAccount::Refuse(TenantRefusal reason, absl::string_view what,
                                   const RateLimit& limit,
                                   absl::Duration wait) {
  usage_->metrics->OnRefused(reason);
  absl::Status refused = absl::ResourceExhaustedError(absl::StrFormat(
      "tenant '%s' has used its %s: the limit is %g a second, and %g at once; "
      "try again in %s",
      name(), what, limit.per_second, limit.burst, absl::FormatDuration(wait)));
  refused.SetPayload(kRetryAfterUrl, absl::Cord(absl::FormatDuration(wait)));
  return refused;
}

absl::Status TenantAccount::BeginCall(absl::Time now) {
  if (usage_ == nullptr) return absl::OkStatus();
  RateLimit limit;
  absl::Duration wait;
  {
    MutexLock lock(usage_->mutex);
    if (!usage_->calls.has_value()) return absl::OkStatus();
    limit = usage_->calls->limit();
    wait = usage_->calls->Wait(1, now);
    if (wait == absl::ZeroDuration()) usage_->calls->Take(1, now);
  }
  if (wait == absl::ZeroDuration()) return absl::OkStatus();
  return Refuse(TenantRefusal::kCallRate, "calls", limit, wait);
}

absl::Status TenantAccount::BeginInputs(absl::Time now) {
  if (usage_ == nullptr) return absl::OkStatus();
  RateLimit limit;
  absl::Duration wait;
  {
    MutexLock lock(usage_->mutex);
    if (!usage_->tokens.has_value()) return absl::OkStatus();
    limit = usage_->tokens->limit();
    wait = usage_->tokens->Wait(1, now);
  }
  if (wait == absl::ZeroDuration()) return absl::OkStatus();
  return Refuse(TenantRefusal::kTokenRate, "tokens", limit, wait);
}

void TenantAccount::OnSource(int tokens, absl::Time now) {
  if (usage_ == nullptr || tokens == 0) return;
  usage_->metrics->OnSourceTokens(tokens);
  MutexLock lock(usage_->mutex);
  if (usage_->tokens.has_value()) usage_->tokens->Take(tokens, now);
}

void TenantAccount::OnGenerated(int tokens, absl::Time now) {
  if (usage_ == nullptr || tokens == 0) return;
  usage_->metrics->OnGeneratedTokens(tokens);
  MutexLock lock(usage_->mutex);
  if (usage_->tokens.has_value()) usage_->tokens->Take(tokens, now);
}

void TenantAccount::OnInputRefused() {
  if (usage_ == nullptr) return;
  usage_->metrics->OnRefused(TenantRefusal::kQueuedInputs);
}

void TenantAccount::OnCall(absl::StatusCode code) {
  if (usage_ != nullptr) usage_->metrics->OnCall(code);
}

}  // namespace attend
