// The life of a call. How it is reported is in service_call_report.cc.
#include "server/service/service_call.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/tensor/mutex.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "server/service/cache_salt.h"
#include "server/service/request_id.h"

namespace attend {

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

CallMetrics& ServiceCall::metrics() const {
  return model_ == nullptr ? environment_.service.other_calls : model_->calls;
}

}  // namespace attend
