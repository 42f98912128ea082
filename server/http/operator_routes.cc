#include "server/http/operator_routes.h"

#include <functional>
#include <memory>
#include <utility>

#include "server/http/metrics_page.h"

namespace attend {

namespace {

HttpResponse Unauthorized() {
  HttpResponse response =
      TextResponse(401, "needs Authorization: Bearer KEY\n");
  response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

// `handler`, for requests that may see what it answers.
HttpHandler Guarded(std::function<bool(absl::string_view)> may_see,
                    HttpHandler handler) {
  if (!may_see) return handler;
  return
      [may_see = std::move(may_see), handler = std::move(handler)](
          const HttpRequest& request, std::shared_ptr<HttpExchange> exchange) {
        const auto key = request.Header("Authorization");
        if (!may_see(key.value_or(""))) return exchange->Reply(Unauthorized());
        handler(request, std::move(exchange));
      };
}

HttpHandler Probe(std::function<bool()> good, const char* otherwise) {
  return [good = std::move(good), otherwise](
             const HttpRequest&, std::shared_ptr<HttpExchange> exchange) {
    exchange->Reply(good() ? TextResponse(200, "ok\n")
                           : TextResponse(503, otherwise));
  };
}

HttpHandler PageOf(std::function<std::string()> metrics,
                   std::function<std::string()> open_metrics) {
  return
      [page = std::make_shared<MetricsPage>(std::move(metrics),
                                            std::move(open_metrics))](
          const HttpRequest& request, std::shared_ptr<HttpExchange> exchange) {
        page->Ask(AskedForm(request), std::move(exchange));
      };
}

}  // namespace

void AddOperatorRoutes(HttpRouter& router, OperatorSources sources) {
  const auto& may_see_health = sources.may_see_health;
  router.Add(
      "GET", "/livez",
      Guarded(may_see_health, Probe(std::move(sources.live), "not alive\n")));
  router.Add(
      "GET", "/readyz",
      Guarded(may_see_health, Probe(std::move(sources.ready), "not ready\n")));
  router.Add("GET", "/metrics",
             Guarded(std::move(sources.may_see_metrics),
                     PageOf(std::move(sources.metrics),
                            std::move(sources.open_metrics))));
}

}  // namespace attend
