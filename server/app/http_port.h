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

// What is served over HTTP beside what operators need.
std::vector<HttpApi> HttpApis();

// Starts the HTTP port: the APIs, what operators need, and /openapi.json, which
// describes all of that. `version`: that of the build. `sources` without
// may_see_metrics, which the options say. What `sources` refer to, `calls`,
// `requests` and `certificates` must outlive the server.
absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(
    const ServerOptions& options, absl::string_view version,
    OperatorSources sources, HttpCalls& calls, RequestBudget& requests,
    const Certificates* certificates);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_HTTP_PORT_H_
