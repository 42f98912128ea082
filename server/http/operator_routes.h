#ifndef ATTEND_SERVER_HTTP_OPERATOR_ROUTES_H_
#define ATTEND_SERVER_HTTP_OPERATOR_ROUTES_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/http/http_router.h"

namespace attend {

// Where the answers for operators come from.
struct OperatorSources {
  // In Prometheus' text format. Called on a thread of its own.
  std::function<std::string()> metrics;
  // Called on the event loop.
  std::function<bool()> live;
  std::function<bool()> ready;
  // Whether whoever has this in the header Authorization may see /metrics;
  // otherwise the answer is 401. Null: everybody may.
  std::function<bool(absl::string_view)> may_see_metrics = nullptr;
};

// Adds /metrics, /livez and /readyz (200 or 503).
void AddOperatorRoutes(HttpRouter& router, OperatorSources sources);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_OPERATOR_ROUTES_H_
