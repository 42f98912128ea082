#ifndef ATTEND_SERVER_HTTP_OPERATOR_ROUTES_H_
#define ATTEND_SERVER_HTTP_OPERATOR_ROUTES_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/http/http_router.h"

namespace attend {

// Functions that give the answers for operators.
struct OperatorSources {
  // The metrics in Prometheus' text format. Called on a thread of its own.
  std::function<std::string()> metrics;
  // The answers of /livez and /readyz. Called on the event loop.
  std::function<bool()> live;
  std::function<bool()> ready;
  // Whether a request with this header Authorization may see /metrics, and
  // /livez and /readyz; otherwise the answer is 401. Null: every request may.
  std::function<bool(absl::string_view)> may_see_metrics = nullptr;
  std::function<bool(absl::string_view)> may_see_health = nullptr;
  // The metrics as OpenMetrics 1.0, called as `metrics` is. Null: nobody gets
  // them so.
  std::function<std::string()> open_metrics = nullptr;
};

// Adds /metrics, /livez and /readyz (200 or 503).
void AddOperatorRoutes(HttpRouter& router, OperatorSources sources);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_OPERATOR_ROUTES_H_
