#ifndef ATTEND_SERVER_HTTP_HTTP_ENVIRONMENT_H_
#define ATTEND_SERVER_HTTP_HTTP_ENVIRONMENT_H_

#include "server/budget/request_budget.h"
#include "server/http/allowed_hosts.h"
#include "server/http/connections.h"
#include "server/http/http_options.h"
#include "server/http/http_router.h"

namespace attend {

class Certificates;

// What the sessions of a server share. Must outlive the event loop.
struct HttpEnvironment {
  const HttpOptions options;
  const HttpRouter router;
  const Certificates* const certificates;  // null: plain text
  Connections connections;
  RequestBudget& requests;  // of the bodies of requests
  const AllowedHosts hosts = {};
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_ENVIRONMENT_H_
