#ifndef ATTEND_SERVER_APP_HTTP_PORT_H_
#define ATTEND_SERVER_APP_HTTP_PORT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/app/options.h"
#include "server/http/http_server.h"
#include "server/http/operator_routes.h"
#include "server/http_call/http_api.h"
#include "server/http_call/http_calls.h"

namespace attend {

class Certificates;
class RequestBudget;

// The APIs that are served over HTTP in addition to the operators' routes.
std::vector<HttpApi> HttpApis();

// Starts the HTTP port: the APIs, the operators' routes, and /openapi.json,
// which describes all of them. `version`: version of the build. `sources` lacks
// may_see_metrics, which the options define. The objects of `sources`, `calls`,
// `requests` and `certificates` must outlive the server.
absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(
    const ServerOptions& options, absl::string_view version,
    OperatorSources sources, HttpCalls& calls, RequestBudget& requests,
    const Certificates* certificates);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_HTTP_PORT_H_
