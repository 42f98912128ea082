#include "server/service/service_call.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/mutex.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "server/service/cache_salt.h"
#include "server/service/request_id.h"

namespace attend {
namespace {

// "attend.v1.Attend/Translate"; of a method of no proto file its label.
std::string FullName(const Method& method) {
  if (method.descriptor == nullptr) return method.name();
  return absl::StrCat(method.descriptor->service()->full_name(), "/",
                      method.name());
}

}  // namespace

ServiceCall::ServiceCall(const Method& method, CallEnvironment& environment)
    : CallContext(environment.lifecycle, environment.service.clock),
      method_(method),
      environment_(environment) {}

ServiceCall::~ServiceCall() {
  environment_.heap.Freed(static_cast<int64_t>(all_bytes_));
}

void ServiceCall::WakeAfterStep() {
  if (starting_) {
    woken_early_ = true;
  } else {
    PostWake();
  }
}

bool ServiceCall::Begin(absl::string_view wanted_id, absl::Time deadline,
                        const Caller& caller) {
  request_id_ = ChooseRequestId(wanted_id);
  if (environment_.service.access_log != nullptr) {
    host_ = std::string(caller.host);
  }
  attempts_before_ = caller.attempts_before;
  arrival_ = environment_.service.clock.Now();
  deadline_ = deadline;
  absl::Status refused = Identify(caller);
  // Nobody without a key fills the queue of spans.
  trace_.Begin(caller.trace,
               refused.ok() ? environment_.service.tracer : nullptr);
  if (refused.ok()) refused = Admit();
  if (refused.ok()) return true;
  Refuse(std::move(refused));
  return false;
}

absl::Status ServiceCall::Identify(const Caller& caller) {
  const Service& service = environment_.service;
  if (service.tenants == nullptr) {
    tenant_ = TenantOf(service.fair_share, caller.host);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(account_, service.tenants->Find(caller.proof));
  tenant_ = account_->tenant();
  cache_salt_ = TenantSalt(tenant_.id);
  return absl::OkStatus();
}

absl::Status ServiceCall::CheckDraining() {
  if (!lifecycle_.draining) return absl::OkStatus();
  metrics().OnRejected(RejectReason::kDraining);
  return absl::UnavailableError("server is draining");
}

absl::Status ServiceCall::Admit() {
  RETURN_IF_ERROR(CheckDraining());
  absl::Status refused = account_->BeginCall(arrival_);
  if (!refused.ok()) metrics().OnRejected(RejectReason::kTenantLimit);
  return refused;
}

std::unique_ptr<Handler> ServiceCall::NewHandler() {
  return method_.make(environment_.service, *this);
}

void ServiceCall::Start(RequestBytes bytes) {
  budgeted_ = std::move(bytes);
  // Nobody is older for having sent slowly.
  arrival_ = environment_.service.clock.Now();
  all_bytes_ = request_bytes();
  absl::Status refused = CatchOutOfMemory([this] { return Enqueue(); });
  if (!refused.ok()) Refuse(std::move(refused));
}

absl::Status ServiceCall::Enqueue() {
  request_.reset(method_.request->New());
  handler_ = NewHandler();
  // Counted before the flag is read: a drain that begins now waits for it.
  computed_.emplace(environment_.computed_calls);
  RETURN_IF_ERROR(CheckDraining());
  SetStarting(true);
  return WaitIn(environment_.pool, &ServiceCall::RunStart);
}

absl::Status ServiceCall::WaitIn(WorkPool& pool, void (ServiceCall::*next)()) {
  absl::Status refused =
      pool.Submit(tenant_, all_bytes_, [this, next] { (this->*next)(); });
  if (refused.ok()) return refused;
  metrics().OnRejected(RejectReason::kTokenizerFull);
  refused.SetPayload(kRetryAfterUrl, absl::Cord("1s"));
  return refused;
}

WorkPool& ServiceCall::InputsPool() {
  return uses_sandbox_ ? environment_.sandbox_pool : environment_.pool;
}

void ServiceCall::SetStarting(bool starting) {
  MutexLock lock(mutex_);
  starting_ = starting;
}

void ServiceCall::Refuse(absl::Status status) {
  SetStarting(false);
  computed_.reset();
  failed_to_start_ = true;
  start_status_ = std::move(status);
}

void ServiceCall::RunStart() {
  absl::Status status;
  while (true) {
    status = CatchOutOfMemory([this] { return StartHandler(); });
    if (!status.ok() || inputs_ != Handler::kMore) break;
    if (Pause(environment_.pool, kShortWork, &ServiceCall::RunStart)) return;
  }
  if (status.ok() && !uses_sandbox_) return StartInputs();
  if (status.ok()) {
    status = CatchOutOfMemory(
        [this] { return WaitIn(InputsPool(), &ServiceCall::StartInputs); });
  }
  if (!status.ok()) EndStart(std::move(status));
}

absl::Status ServiceCall::StartHandler() {
  if (trace_.sampled() && !was_read_) {
    trace_.BeginTokens(environment_.service.clock.Now());
  }
  RETURN_IF_ERROR(CheckStart());
  if (!std::exchange(was_read_, true)) {
    RETURN_IF_ERROR(ReadRequest(*request_));
  }
  ASSIGN_OR_RETURN(inputs_, handler_->Start(*request_));
  input_bytes_ = all_bytes_ / std::max(inputs_, 1);
  return absl::OkStatus();
}

// Starts as many inputs as are short work together, but at least one. Those of
// a call that has ended take no time.
void ServiceCall::StartInputs() {
  size_t bytes = 0;
  while (next_input_ < inputs_) {
    const bool enough = bytes > 0 && bytes + input_bytes_ > kShortWork;
    if (enough && CheckAwaited().ok() &&
        Pause(InputsPool(), input_bytes_, &ServiceCall::StartInputs)) {
      return;
    }
    absl::Status status = CatchOutOfMemory(
        [this] { return handler_->StartInput(*request_, next_input_++); });
    if (!status.ok()) return EndStart(std::move(status));
    bytes += input_bytes_;
  }
  AnswerAtOnce();
}

bool ServiceCall::Pause(WorkPool& pool, size_t bytes,
                        void (ServiceCall::*next)()) {
  return CatchOutOfMemory([&] {
           pool.Continue(tenant_, bytes, [this, next] { (this->*next)(); });
           return absl::OkStatus();
         })
      .ok();
}

// The thread of a stream looks at its requests while they start, so their
// answers are left to that thread. A long answer is long work.
void ServiceCall::AnswerAtOnce() {
  if (!handler_->answers_at_once() || method_.streams_requests()) {
    return EndStart(absl::OkStatus());
  }
  if (all_bytes_ > kShortWork && !std::exchange(answers_later_, true) &&
      Pause(InputsPool(), all_bytes_, &ServiceCall::AnswerAtOnce)) {
    return;
  }
  if (answers_later_) {  // perhaps too late
    absl::Status awaited = CheckStart();
    if (!awaited.ok()) return EndStart(std::move(awaited));
  }
  EndTokens();
  Answer();
  Started(absl::OkStatus());
}

void ServiceCall::EndTokens() {
  if (!trace_.sampled()) return;
  MutexLock lock(mutex_);
  trace_.EndTokens(environment_.service.clock.Now());
}

void ServiceCall::EndStart(absl::Status status) {
  EndTokens();
  Started(std::move(status));
}

void ServiceCall::Started(absl::Status status) {
  request_.reset();
  if (!status.ok() || !uses_engine_) computed_.reset();
  budgeted_ = {};
  // In most cases the engine has the inputs now, and there is nothing to answer
  // yet. Whoever changes that wakes the call's thread.
  const bool quiet = !status.ok() || handler_->quiet();
  MutexLock lock(mutex_);
  failed_to_start_ = !status.ok();
  start_status_ = std::move(status);
  starting_ = false;
  if (!quiet && !woken_early_ && !AnswersAdmission()) return;
  PostWake();
  FlushWakes();
}

void ServiceCall::Answer() {
  const absl::Status status = CatchOutOfMemory([&] {
    if (failed_to_start_) {
      AnswerRefusal();
    } else {
      handler_->Continue(responder());
    }
    return absl::OkStatus();
  });
  if (status.ok()) return;
  cancelled_ = true;  // what still runs has nobody to answer
  responder().Finish(status);
}

// Where a client streams requests, the handler has to tell which one failed.
void ServiceCall::AnswerRefusal() {
  if (!method_.streams_requests()) return responder().Finish(start_status_);
  const std::unique_ptr<google::protobuf::Message> request(
      method_.request->New());
  if (!was_read_ && request_bytes() <= kShortWork) {
    ReadRequest(*request).IgnoreError();
  }
  if (handler_ == nullptr) handler_ = NewHandler();
  handler_->Refuse(*request, start_status_, responder());
}

void ServiceCall::CountInference(const CallSummary& summary, bool success,
                                 absl::Time now) const {
  if (summary.inputs == 0 || model_ == nullptr || !model_->served.ok()) return;
  CallParts parts = summary.parts;
  parts.answer = std::max(now - arrival_ - parts.whole(), absl::ZeroDuration());
  model_->served->metrics.OnInference(
      success, summary.inputs - summary.failed_inputs, parts, now);
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

CallMetrics& ServiceCall::metrics() const {
  return model_ == nullptr ? environment_.service.other_calls : model_->calls;
}

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

}  // namespace attend
