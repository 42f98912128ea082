#include "server/http/operator_routes.h"

#include <functional>
#include <memory>
#include <utility>

#include "server/http/metrics_page.h"

namespace attend {

namespace {

HttpHandler Probe(std::function<bool()> good, const char* otherwise) {
  return [good = std::move(good), otherwise](
             const HttpRequest&, std::shared_ptr<HttpExchange> exchange) {
    exchange->Reply(good() ? TextResponse(200, "ok\n")
                           : TextResponse(503, otherwise));
  };
}

HttpResponse Unauthorized() {
  HttpResponse response =
      TextResponse(401, "needs Authorization: Bearer KEY\n");
  response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

}  // namespace

void AddOperatorRoutes(HttpRouter& router, OperatorSources sources) {
  router.Add("GET", "/livez", Probe(std::move(sources.live), "not alive\n"));
  router.Add("GET", "/readyz", Probe(std::move(sources.ready), "not ready\n"));
  router.Add(
      "GET", "/metrics",
      [page = std::make_shared<MetricsPage>(std::move(sources.metrics),
                                            std::move(sources.open_metrics)),
       may_see = std::move(sources.may_see_metrics)](
          const HttpRequest& request, std::shared_ptr<HttpExchange> exchange) {
        const auto key = request.Header("Authorization");
        if (may_see && !may_see(key.value_or(""))) {
          return exchange->Reply(Unauthorized());
        }
        page->Ask(AskedForm(request), std::move(exchange));
      });
}

}  // namespace attend
