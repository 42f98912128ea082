#include "server/http_call/http_call.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "engine/tensor/out_of_memory.h"
#include "server/http_call/http_status.h"
#include "server/service/request_id.h"

namespace attend {
namespace {

constexpr char kTimeoutHeader[] = "X-Request-Timeout";
constexpr double kMaxTimeoutSeconds = 366 * 86400.0;

// The time that the client gives the call. No value: as long as it takes. An
// error if the header is none.
absl::StatusOr<std::optional<absl::Duration>> TimeoutOf(
    const HttpRequest& request) {
  const auto header = request.Header(kTimeoutHeader);
  if (!header) return std::nullopt;
  double seconds = 0;
  if (!absl::SimpleAtod(*header, &seconds) ||
      !(seconds > 0 && seconds <= kMaxTimeoutSeconds)) {
    return FieldError(kTimeoutHeader,
                      "must be once, a number of seconds above 0");
  }
  return absl::Seconds(seconds);
}

std::string Copy(std::optional<absl::string_view> text) {
  return std::string(text.value_or(""));
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
  const absl::StatusOr<std::optional<absl::Duration>> timeout =
      TimeoutOf(request);
  const absl::Time deadline =
      timeout.ok() && timeout->has_value()
          ? calls_.environment_.service.clock.Now() + **timeout
          : absl::InfiniteFuture();
  Caller caller = {.host = request.host, .proof = {}};
  if (needs_proof())
    caller.proof.authorization = request.Header("Authorization");
  bool accepted = Begin(Copy(request.Header(kRequestIdKey)), deadline, caller);
  if (accepted && !timeout.ok()) {
    Refuse(timeout.status());
    accepted = false;
  }
  reading_ = accepted;
  if (!calls_.Add(*this)) {
    exchange_->Reply(ErrorResponse(absl::UnavailableError("server shuts down"),
                                   503, route_.error));
    return delete this;
  }
  exchange_->Listen(*this);
  // The call may be gone after either.
  if (accepted) return exchange_->ReadBody();
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
  if (events.written) writing_ = false;
  if (events.end) {
    exchange_end_ = events.end;
    if (events.end->how != HttpEnd::kSent) cancelled_ = true;
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
  if (reading_ || starting() || writing_ || end_ || exchange_end_) return;
  Answer(*this);
  if (handler_ != nullptr) text_.append(handler_->TakeText());
  if (!text_.empty() || end_) Write();
}

// Sends what is there, and the end, if it is known. What comes while a part is
// under way goes into the next part.
void HttpCall::Write() {
  std::string text = std::exchange(text_, {});
  if (end_ && !begun_) {
    if (!end_->ok()) return exchange_->Reply(Failed());
    return exchange_->Reply(
        Answered(translator_->answer_type(), std::move(text)));
  }
  if (end_) {
    if (!end_->ok()) {
      absl::StrAppend(&text,
                      "data: ", route_.error(*end_, ToHttpStatus(*end_)).text,
                      "\n\n");
    }
    return exchange_->EndStream(std::move(text));
  }
  writing_ = true;
  if (begun_) return exchange_->Write(std::move(text));
  begun_ = true;
  exchange_->BeginStream(Answered(translator_->answer_type(), std::move(text)));
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
      ErrorResponse(*end_, ToHttpStatus(*end_), route_.error);
  response.headers.emplace_back("X-Request-Id", request_id());
  return response;
}

void HttpCall::DestroyIfDone() {
  if (reading_ || starting() || !exchange_end_ || !quiet()) return;
  calls_.Remove(*this);  // from here on nobody asks the call to close
  if (thread_.IsWoken(*this)) return;
  if (exchange_end_->how == HttpEnd::kSlow) metrics().OnSlowReader();
  Report(EndOfCall());
  delete this;
}

CallEnd HttpCall::EndOfCall() const {
  switch (exchange_end_->how) {
    case HttpEnd::kSent:
      return {end_.value_or(absl::OkStatus())};
    case HttpEnd::kRefused:
      return {absl::Status(FromHttpStatus(exchange_end_->refusal),
                           "refused by the http port")};
    case HttpEnd::kSlow:
    case HttpEnd::kGone:
    case HttpEnd::kClosed:
      break;
  }
  return {.status = absl::OkStatus(),
          .gone = true,
          .slow_reader = exchange_end_->how == HttpEnd::kSlow};
}

}  // namespace attend
