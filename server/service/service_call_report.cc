// How a call is counted, logged and traced at its end.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/tensor/out_of_memory.h"
#include "server/service/service_call.h"

namespace attend {
namespace {

// "attend.v1.Attend/Translate"; of a method of no proto file its label.
std::string FullName(const Method& method) {
  if (method.descriptor == nullptr) return method.name();
  return absl::StrCat(method.descriptor->service()->full_name(), "/",
                      method.name());
}

}  // namespace

void ServiceCall::Report(CallEnd end) const {
  CatchOutOfMemory([&] {
    TryReport(end);
    return absl::OkStatus();
  }).IgnoreError();
}

void ServiceCall::TryReport(CallEnd end) const {
  const Service& service = environment_.service;
  const absl::Time now = service.clock.Now();
  if (end.gone) {
    end.status = now >= deadline_ ? absl::DeadlineExceededError("")
                                  : absl::CancelledError("");
  }
  const absl::Duration duration = now - arrival_;
  metrics().OnCall(method_.name(), end.status.code(), duration,
                   trace_.sampled() ? trace_.id() : "");
  account_->OnCall(end.status.code());
  if (absl::IsInternal(end.status)) {
    service.log.Write(LogLevel::kError, "call_failed",
                      {{"id", request_id_}, {"error", end.status.message()}});
  }
  const CallSummary summary =
      failed_to_start_ ? CallSummary() : handler_->summary();
  CountInference(summary, end.status.ok(), now);
  LogCall(end, summary, duration);
  EndTrace(end, summary, now);
}

void ServiceCall::CountInference(const CallSummary& summary, bool success,
                                 absl::Time now) const {
  if (summary.inputs == 0 || model_ == nullptr || !model_->served.ok()) return;
  CallParts parts = summary.parts;
  parts.answer = std::max(now - arrival_ - parts.whole(), absl::ZeroDuration());
  model_->served->metrics.OnInference(
      success, summary.inputs - summary.failed_inputs, parts, now);
}

void ServiceCall::LogCall(const CallEnd& end, const CallSummary& summary,
                          absl::Duration duration) const {
  AccessLog* const log = environment_.service.access_log;
  if (log == nullptr || !log->Wants(end.status)) return;
  const std::string trace_id = trace_.id();
  const auto if_known = [](bool known, absl::string_view name) {
    return known ? name : absl::string_view();
  };
  const bool computed = summary.computed_inputs > 0;
  log->Write(
      {{"id", request_id_},
       {if_known(!trace_id.empty(), "trace"), trace_id},
       {"peer", AddressOf(host_)},
       {"tenant", account_->name()},
       {"model", model_ == nullptr ? "" : model_->name},
       {if_known(model_ != nullptr, "model_version"),
        model_ == nullptr ? 0 : model_->version},
       {"method", method_.name()},
       {"code", absl::StatusCodeToString(end.status.code())},
       {if_known(end.http_status != 0, "http_status"), end.http_status},
       {if_known(attempts_before_ > 0, "attempts_before"), attempts_before_},
       {"seconds", duration},
       {if_known(computed, "queue_seconds"), summary.parts.queue},
       {if_known(summary.first_token < absl::InfiniteDuration(),
                 "first_token_seconds"),
        summary.first_token},
       {"inputs", summary.inputs},
       {"failed_inputs", summary.failed_inputs},
       {"source_tokens", summary.source_tokens},
       {"generated_tokens", summary.generated_tokens},
       {"slow_reader", static_cast<int>(end.slow_reader)}});
}

void ServiceCall::EndTrace(const CallEnd& end, const CallSummary& summary,
                           absl::Time now) const {
  if (!trace_.sampled()) return;
  trace_.End({.method = FullName(method_),
              .begin = arrival_,
              .end = now,
              .status = end.status,
              .http_status = end.http_status,
              .request_id = request_id_,
              .model = model_ == nullptr ? "" : model_->name,
              .tenant = account_->name(),
              .inputs = summary.inputs,
              .input_tokens = summary.source_tokens,
              .output_tokens = summary.generated_tokens});
}

}  // namespace attend
