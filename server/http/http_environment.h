#ifndef ATTEND_SERVER_HTTP_HTTP_ENVIRONMENT_H_
#define ATTEND_SERVER_HTTP_HTTP_ENVIRONMENT_H_

#include <memory>

#include "server/http/allowed_hosts.h"
#include "server/http/connections.h"
#include "server/http/http_body.h"
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
  const AllowedHosts hosts = {};
  const std::shared_ptr<BodyBudget> bodies =
      std::make_shared<BodyBudget>(options.max_bodies_bytes);
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_ENVIRONMENT_H_
