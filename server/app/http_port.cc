#include "server/app/http_port.h"

#include <string>
#include <utility>

#include "server/budget/request_budget.h"
#include "server/connect/connect_api.h"
#include "server/http_call/openapi.h"
#include "server/libretranslate/libretranslate_api.h"
#include "server/openai/openai_api.h"
#include "server/service/methods.h"
#include "server/tenants/key_check.h"
#include "server/web/web_routes.h"

namespace attend {
namespace {

void AddOpenApi(absl::string_view version, const std::vector<HttpApi>& apis,
                HttpRouter& router) {
  const auto text = std::make_shared<const std::string>(OpenApiText(
      version, apis,
      {{"/livez", "Whether the server lives.", "text/plain"},
       {"/readyz", "Whether the server takes calls.", "text/plain"},
       {"/metrics", "Metrics, as Prometheus reads them.", "text/plain"},
       {"/openapi.json", "This description.", "application/json"},
       {"/attend/v1/attend.proto", "The definition of attend.v1.",
        "text/plain"},
       {"/inference/grpc_service.proto",
        "The definition of the Open Inference Protocol.", "text/plain"}}));
  router.Add("GET", "/openapi.json",
             [text](const HttpRequest&, std::shared_ptr<HttpExchange> to) {
               to->Reply({.headers = {{"Content-Type", "application/json"}},
                          .body = text});
             });
}

}  // namespace

std::vector<HttpApi> HttpApis() {
  std::vector<HttpApi> apis = OpenAiApis();
  std::vector<Method> methods = AttendMethods();
  for (const Method& method : AdminMethods()) methods.push_back(method);
  apis.push_back(ConnectApi(methods));
  apis.push_back(LibreTranslateApi());
  return apis;
}

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(
    const ServerOptions& options, absl::string_view version,
    OperatorSources sources, HttpCalls& calls, RequestBudget& requests,
    const Certificates* certificates) {
  HttpRouter router;
  for (const HttpApi& api : HttpApis()) calls.AddRoutes(api, router);
  AddOpenApi(version, HttpApis(), router);
  AddProtoRoutes(router);
  if (options.page) AddPageRoutes(router);
  sources.may_see_metrics = NewKeyCheck(options.metrics_key_sha256);
  AddOperatorRoutes(router, std::move(sources));
  return HttpServer::Start(options.http, std::move(router), certificates,
                           &requests);
}

}  // namespace attend
