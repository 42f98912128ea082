#ifndef ATTEND_TESTS_SERVER_HTTP_TEST_SERVER_H_
#define ATTEND_TESTS_SERVER_HTTP_TEST_SERVER_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "server/http/http_server.h"
#include "server/http/operator_routes.h"

namespace attend {

// A server of the operators' paths on a free port of the loopback; null if it
// cannot start, which fails the test.
inline std::unique_ptr<HttpServer> StartTestServer(
    HttpOptions options,
    OperatorSources sources = {.metrics = [] { return std::string("m 1\n"); },
                               .live = [] { return true; },
                               .ready = [] { return true; }},
    const Certificates* certificates = nullptr) {
  options.port = 0;
  HttpRouter router;
  AddOperatorRoutes(router, std::move(sources));
  auto server = HttpServer::Start(options, std::move(router), certificates);
  EXPECT_TRUE(server.ok()) << server.status();
  return server.ok() ? *std::move(server) : nullptr;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_HTTP_TEST_SERVER_H_
