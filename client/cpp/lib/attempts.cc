#include "client/cpp/lib/attempts.h"

#include <random>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/lib/channel.h"
#include "client/cpp/lib/retry_after.h"
#include "client/cpp/lib/target.h"

namespace attend {
namespace {

std::optional<absl::Duration> Pushback(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("grpc-retry-pushback-ms");
  if (found == trailers.end()) return std::nullopt;
  int64_t milliseconds = 0;
  const std::string value(found->second.data(), found->second.size());
  // By gRPC's rules a value that is no number means "do not retry".
  if (!absl::SimpleAtoi(value, &milliseconds)) milliseconds = -1;
  return absl::Milliseconds(milliseconds);
}

// How gRPC reports a call that a proxy or a connection has cut off in the
// middle, with several codes. No answer of Attend reads like that.
bool IsCutOff(const grpc::Status& status) {
  const std::string& message = status.error_message();
  return message == "CANCELLED" ||
         absl::StartsWith(message, "Received RST_STREAM with error code") ||
         absl::StartsWith(message, "Stream removed");
}

double Random() {
  thread_local std::minstd_rand engine{std::random_device{}()};
  return std::uniform_real_distribution<double>()(engine);
}

}  // namespace

AttemptOutcome AttemptOutcomeOf(const grpc::ClientContext& context,
                                const grpc::Status& status) {
  if (status.ok()) return {absl::OkStatus()};
  AttemptOutcome outcome = {IsCutOff(status)
                                ? absl::UnavailableError(status.error_message())
                                : ToAbslStatus(status)};
  outcome.hint = Pushback(context);
  if (!outcome.hint.has_value()) {
    outcome.hint = RetryAfterInDetails(status.error_details());
  }
  if (outcome.hint.has_value() && *outcome.hint >= absl::ZeroDuration()) {
    SetRetryAfter(*outcome.hint, outcome.status);
  }
  return outcome;
}

AttemptOutcome CancelledByCaller() {
  return {.status = absl::CancelledError("cancelled by the caller"),
          .is_final = true};
}

Attempts::Attempts(const ClientOptions& options, const CallOptions& call,
                   absl::Duration timeout)
    : options_(options),
      call_(call),
      deadline_(absl::Now() + timeout),
      cancellation_(call.cancellation == nullptr ? never_
                                                 : *call.cancellation) {}

absl::Status Attempts::Run(absl::FunctionRef<AttemptOutcome()> attempt) {
  if (absl::Status token = CheckToken(options_.token); !token.ok()) {
    return token;
  }
  if (const auto split = SplitAddresses(options_.address); !split.ok()) {
    return split.status();
  }
  for (int made = 1;; ++made) {
    const AttemptOutcome outcome = RunOne(attempt);
    if (outcome.status.ok() || outcome.is_final) return outcome.status;
    if (IsCancelled()) return CancelledByCaller().status;
    if (outcome.went_on) made = 1;
    const std::optional<absl::Duration> pause =
        options_.retry.Pause({.attempts = made,
                              .code = outcome.status.code(),
                              .pushback = outcome.hint,
                              .remaining = deadline_ - absl::Now()},
                             Random());
    if (!pause.has_value()) return outcome.status;
    if (!Pause(*pause)) return CancelledByCaller().status;
  }
}

AttemptOutcome Attempts::RunOne(absl::FunctionRef<AttemptOutcome()> attempt) {
  const bool go = cancellation_.Enter([this] { Cancel(); });
  const auto end = absl::MakeCleanup([this] {
    cancellation_.Leave();
    contexts_.clear();
  });
  return go ? attempt() : CancelledByCaller();
}

bool Attempts::Pause(absl::Duration time) {
  if (options_.sleep == nullptr) return cancellation_.Sleep(time);
  options_.sleep(time);
  return true;
}

grpc::ClientContext& Attempts::NewContext() {
  const std::lock_guard<std::mutex> lock(mutex_);
  grpc::ClientContext& context = contexts_.emplace_back();
  SetTimeout(context, deadline_ - absl::Now());
  AddMetadata(context, MetadataOf(options_));
  AddMetadata(context, call_.metadata);
  if (made_ > 0) {
    context.AddMetadata("grpc-previous-rpc-attempts", absl::StrCat(made_));
  }
  ++made_;
  if (cancelled_) context.TryCancel();
  return context;
}

bool Attempts::IsCancelled() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cancelled_;
}

void Attempts::Cancel() {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = true;
  for (grpc::ClientContext& context : contexts_) context.TryCancel();
}

}  // namespace attend
