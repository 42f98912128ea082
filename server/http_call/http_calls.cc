#include "server/http_call/http_calls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/empty.pb.h"
#include "server/http_call/http_call.h"
#include "server/http_call/http_status.h"

namespace attend {

HttpResponse ErrorResponse(const absl::Status& status, int http_status,
                           HttpErrorBody (*error)(const absl::Status&, int)) {
  HttpErrorBody body = error(status, http_status);
  HttpResponse response = {
      .status = http_status,
      .headers = StatusHeaders(status),
      .body = std::make_shared<const std::string>(std::move(body.text))};
  response.headers.emplace_back("Content-Type", std::move(body.type));
  response.headers.emplace_back("Cache-Control", "no-store");
  if (http_status == 401) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  return response;
}

HttpCalls::HttpCalls(CallEnvironment& environment, StepSignal& step_signal,
                     bool needs_certificates)
    : environment_(environment),
      step_signal_(step_signal),
      needs_certificates_(needs_certificates) {
  step_signal_.Connect(this, [this] { thread_.Flush(); });
}

HttpCalls::~HttpCalls() {
  Shutdown(absl::ZeroDuration());
  step_signal_.Disconnect(this);
}

void HttpCalls::AddRoutes(const HttpApi& api, HttpRouter& router) {
  const auto refuse = [error = api.error](int status,
                                          absl::string_view message) {
    return ErrorResponse(absl::Status(FromHttpStatus(status), message), status,
                         error);
  };
  for (const absl::string_view prefix : api.prefixes) {
    router.RefuseAs(prefix, refuse);
  }
  for (const HttpMethod& method : api.methods) {
    const absl::string_view path = method.path;
    router.RefuseAs(path.substr(0, path.find('*')), refuse);
    Method call = {.descriptor = nullptr,
                   .request = &google::protobuf::Empty::default_instance(),
                   .make = nullptr,
                   .label = method.path};
    const Route& route = routes_.emplace_back(
        Route{std::move(call), method, api.error, api.http_status});
    router.Add(method.verb, path,
               [this, &route](const HttpRequest& request,
                              std::shared_ptr<HttpExchange> exchange) {
                 Begin(route, request, std::move(exchange));
               });
  }
}

void HttpCalls::Begin(const Route& route, const HttpRequest& request,
                      std::shared_ptr<HttpExchange> exchange) {
  auto call = std::make_unique<HttpCall>(route, *this, request, exchange);
  call->Accept(request);
  if (Add(*call)) return call.release()->Listen();
  exchange->Reply(ErrorResponse(absl::UnavailableError("server shuts down"),
                                503, route.error));
}

bool HttpCalls::Add(HttpCall& call) {
  MutexLock lock(mutex_);
  if (closed_) return false;
  calls_.insert(&call);
  return true;
}

void HttpCalls::Remove(HttpCall& call) {
  MutexLock lock(mutex_);
  calls_.erase(&call);
}

void HttpCalls::Shutdown(absl::Duration grace) {
  environment_.Drain();
  live_calls_.WaitForNone(std::min(grace, absl::Hours(24)));
  {
    MutexLock lock(mutex_);
    closed_ = true;
    for (HttpCall* call : calls_) call->RequestClose();
  }
  live_calls_.WaitForNone();
}

}  // namespace attend
