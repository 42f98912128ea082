#ifndef ATTEND_SERVER_HTTP_CALL_HTTP_CALLS_H_
#define ATTEND_SERVER_HTTP_CALL_HTTP_CALLS_H_

#include <deque>
#include <memory>
#include <unordered_set>

#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "server/http/http_router.h"
#include "server/http_call/call_thread.h"
#include "server/http_call/http_api.h"
#include "server/service/live_calls.h"
#include "server/service/service_call.h"
#include "server/service/step_signal.h"

namespace attend {

class HttpCall;

// The calls over HTTP, of all APIs. Outlives the HttpServer that has its
// routes.
class HttpCalls {
 public:
  // The arguments must outlive the HttpCalls. Other ports may share them.
  // `needs_certificates`: calls of clients that have none are refused with
  // UNAUTHENTICATED.
  HttpCalls(CallEnvironment& environment, StepSignal& step_signal,
            bool needs_certificates = false);
  // Shutdown() without grace.
  ~HttpCalls();
  HttpCalls(const HttpCalls&) = delete;
  HttpCalls& operator=(const HttpCalls&) = delete;

  // Makes the routes of an API. Before the HttpServer starts.
  void AddRoutes(const HttpApi& api, HttpRouter& router);

  // Takes no new calls; calls that still run after `grace` are cancelled, and
  // their connections closed. Returns when all have ended. The schedulers, and
  // an HttpServer that has routes, must run until then.
  void Shutdown(absl::Duration grace);

 private:
  friend class HttpCall;

  // State that calls of one route share.
  struct Route {
    Method method;
    HttpMethod http;
    HttpErrorBody (*error)(const absl::Status& status, int http_status);
    int (*http_status)(const absl::Status& status);
  };

  // Begins a call; on the event loop of the HTTP port.
  void Begin(const Route& route, const HttpRequest& request,
             std::shared_ptr<HttpExchange> exchange);
  // Any thread may call these. False: no call is taken any more.
  bool Add(HttpCall& call);
  void Remove(HttpCall& call);

  CallEnvironment& environment_;
  StepSignal& step_signal_;
  const bool needs_certificates_;
  CallThread thread_;
  std::deque<Route> routes_;  // calls refer to them
  LiveCalls live_calls_;

  Mutex mutex_;
  std::unordered_set<HttpCall*> calls_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// The answer for an error.
HttpResponse ErrorResponse(const absl::Status& status, int http_status,
                           HttpErrorBody (*error)(const absl::Status&, int));

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_HTTP_CALLS_H_
