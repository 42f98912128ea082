#include "server/http_call/http_call.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "engine/tensor/out_of_memory.h"
#include "server/http_call/http_status.h"
#include "server/service/request_id.h"

namespace attend {
namespace {

std::string Copy(std::optional<absl::string_view> text) {
  return std::string(text.value_or(""));
}

TraceHeaders TraceHeadersOf(const HttpRequest& request) {
  TraceHeaders headers = {
      .traceparent = request.Header(kTraceparentKey).value_or(""),
      .http_method = request.method,
      .http_path = request.path};
  if (headers.traceparent.empty()) return headers;
  for (const auto& [name, value] : request.headers) {
    if (!absl::EqualsIgnoreCase(name, kTracestateKey)) continue;
    JoinTracestate(value, headers.tracestate);
  }
  return headers;
}

}  // namespace

HttpCall::HttpCall(const HttpCalls::Route& route, HttpCalls& calls,
                   const HttpRequest& request,
                   std::shared_ptr<HttpExchange> exchange)
    : LiveCalls::Entry(calls.live_calls_),
      ServiceCall(route.method, calls.environment_),
      route_(route),
      calls_(calls),
      thread_(calls.thread_),
      exchange_(std::move(exchange)),
      translator_(route.http.make()) {
  input_.content_type =
      std::string(request.Header("Content-Type").value_or("application/json"));
  input_.path_rest = std::string(request.path_rest);
  input_.query = std::string(request.query);
}

HttpCall::~HttpCall() = default;

void HttpCall::Accept(const HttpRequest& request) {
  const absl::StatusOr<absl::Duration> timeout = translator_->ReadHead(request);
  const absl::Time deadline =
      calls_.environment_.service.clock.Now() +
      (timeout.ok() ? *timeout : absl::InfiniteDuration());
  Caller caller = {
      .host = request.host, .proof = {}, .trace = TraceHeadersOf(request)};
  if (needs_proof()) {
    caller.proof.authorization = request.Header("Authorization");
    if (request.certificate_names != nullptr) {
      caller.proof.certificate_names = *request.certificate_names;
    }
  }
  bool accepted = Begin(Copy(request.Header(kRequestIdKey)), deadline, caller);
  absl::Status refusal = timeout.status();
  if (calls_.needs_certificates_ && request.certificate_names == nullptr) {
    refusal = absl::UnauthenticatedError(
        "the client has no certificate, which this server requires "
        "(tls_client_auth) and takes over http_tls");
  }
  if (accepted && !refusal.ok()) {
    Refuse(refusal);
    accepted = false;
  }
  reading_ = accepted;
}

void HttpCall::Listen() {
  exchange_->Listen(*this);
  // The call may be gone after either.
  if (reading_) return exchange_->ReadBody(tenant().id);
  Note([](Events&) {});
}

void HttpCall::Note(absl::FunctionRef<void(Events&)> note) {
  MutexLock lock(events_mutex_);
  note(events_);
  thread_.Wake(*this);
  thread_.Flush();
}

void HttpCall::OnBody(HttpBody body) {
  Note([&](Events& events) { events.body = std::move(body); });
}

void HttpCall::OnWritten() {
  Note([](Events& events) { events.written = true; });
}

void HttpCall::OnEnd(HttpEnd end) {
  Note([&](Events& events) { events.end = end; });
}

void HttpCall::RequestClose() {
  Note([](Events& events) { events.close = true; });
}

void HttpCall::OnWake() {
  Events events;
  {
    MutexLock lock(events_mutex_);
    events = std::exchange(events_, {});
  }
  const absl::Status status = CatchOutOfMemory([&] {
    Notice(std::move(events));
    Advance();
    return absl::OkStatus();
  });
  if (!status.ok()) {
    cancelled_ = true;
    CatchOutOfMemory([&] {
      exchange_->Close();
      return absl::OkStatus();
    }).IgnoreError();
  }
  DestroyIfDone();
}

void HttpCall::Notice(Events events) {
  if (events.written) {
    writing_ = false;
    unread_.reset();
  }
  if (events.end) {
    exchange_end_ = events.end;
    if (events.end->how != HttpEnd::kSent) cancelled_ = true;
    slow_ =
        events.end->how == HttpEnd::kSlow ||
        (events.end->how == HttpEnd::kClosed && unread_ && unread_->was_cut());
    unread_.reset();
  }
  if (events.body) {
    reading_ = false;
    request_bytes_ = events.body->text.size();
    input_.body = std::move(*events.body);
    Start();
  } else if (reading_ && exchange_end_) {
    reading_ = false;
    Refuse(absl::CancelledError("the call ends without a request"));
  }
  if (events.close) exchange_->Close();
}

std::unique_ptr<Handler> HttpCall::NewHandler() {
  auto handler = std::make_unique<TranslatingHandler>(
      calls_.environment_.service, *this, *translator_, std::move(input_));
  handler_ = handler.get();
  return handler;
}

void HttpCall::Advance() {
  if (reading_ || starting() || writing_ || ended_ || exchange_end_) return;
  if (!end_) Answer();
  if (handler_ != nullptr) text_ = handler_->TakeText();
  if (!text_.empty() || end_ || (!begun_ && AnswersAdmission())) Write();
}

// Clients and proxies abandon a request whose answer does not begin. Requests
// that can be refused at once have been, with their own status.
bool HttpCall::AnswersAdmission() const {
  return handler_ != nullptr && handler_->streams();
}

// Sends the available text, and the end, if it is known. Text that arrives
// while a part is in flight goes into the next part.
void HttpCall::Write() {
  std::string text = std::exchange(text_, {});
  ended_ = end_.has_value();
  const bool failed = end_ && !end_->ok();
  if (failed && !begun_ && !translator_->errors_in_answer()) {
    return exchange_->Reply(Failed());
  }
  if (failed) {
    const int http_status = route_.http_status(*end_);
    translator_->AppendError(*end_, route_.error(*end_, http_status).text,
                             text);
  }
  unread_.emplace(calls_.environment_.unread, tenant().id, text.size(),
                  [this] { exchange_->Close(); });
  if (end_ && begun_) return exchange_->EndStream(std::move(text));
  if (end_) {
    return exchange_->Reply(
        Answered(translator_->answer_type(), std::move(text)));
  }
  writing_ = true;
  if (begun_) return exchange_->Write(std::move(text));
  begun_ = true;
  HttpResponse head = Answered(translator_->answer_type(), std::move(text));
  head.filler = translator_->filler();
  // nginx would keep the parts until its buffer is full.
  head.headers.emplace_back("X-Accel-Buffering", "no");
  exchange_->BeginStream(std::move(head));
}

HttpResponse HttpCall::Answered(absl::string_view type,
                                std::string text) const {
  return {.status = 200,
          .headers = {{"Content-Type", std::string(type)},
                      {"Cache-Control", "no-store"},
                      {"X-Request-Id", request_id()}},
          .body = std::make_shared<const std::string>(std::move(text))};
}

HttpResponse HttpCall::Failed() const {
  HttpResponse response =
      ErrorResponse(*end_, route_.http_status(*end_), route_.error);
  response.headers.emplace_back("X-Request-Id", request_id());
  return response;
}

void HttpCall::DestroyIfDone() {
  if (reading_ || starting() || !exchange_end_ || !quiet()) return;
  calls_.Remove(*this);  // from here on nobody asks the call to close
  if (thread_.IsWoken(*this)) return;
  if (slow_) metrics().OnSlowReader();
  Report(EndOfCall());
  delete this;
}

int HttpCall::StatusSent() const {
  const bool failed =
      end_ && !end_->ok() && !begun_ && !translator_->errors_in_answer();
  return failed ? route_.http_status(*end_) : 200;
}

CallEnd HttpCall::EndOfCall() const {
  switch (exchange_end_->how) {
    case HttpEnd::kSent:
      return {.status = end_.value_or(absl::OkStatus()),
              .http_status = StatusSent()};
    case HttpEnd::kRefused:
      return {.status = absl::Status(FromHttpStatus(exchange_end_->refusal),
                                     "refused by the http port"),
              .http_status = exchange_end_->refusal};
    case HttpEnd::kSlow:
    case HttpEnd::kGone:
    case HttpEnd::kClosed:
      break;
  }
  return {.status = absl::OkStatus(),
          .gone = true,
          .slow_reader = slow_,
          .http_status = begun_ ? 200 : 0};
}

}  // namespace attend
