// What a client sends to the HTTP port on one connection.
#include <memory>

#include "absl/strings/match.h"
#include "server/http/http_server.h"
#include "server/http/operator_routes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

std::unique_ptr<HttpServer> Start() {
  HttpOptions options;
  options.host = "127.0.0.1";
  options.port = 0;
  HttpRouter router;
  AddOperatorRoutes(
      router, {.metrics = [] { return std::string("m 1\n"); },
               .live = [] { return true; },
               .ready = [] { return false; },
               .may_see_metrics =
                   [](absl::string_view key) { return key == "Bearer k"; }});
  auto server = HttpServer::Start(options, std::move(router));
  ATTEND_CHECK(server.ok());
  return *std::move(server);
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const std::unique_ptr<HttpServer> server = Start();
  RawHttp client;
  ATTEND_CHECK(client.Connect(server->port()));
  // False: it has been refused already.
  client.Send(View(data, size));
  client.EndSending();
  const std::string answers = client.ReadToEnd();
  ATTEND_CHECK(answers.empty() || absl::StartsWith(answers, "HTTP/1.1 "));
  // Nothing of what a client sends comes back.
  ATTEND_CHECK(!absl::StrContains(answers, "fuzz"));
  if (absl::StartsWith(answers, "HTTP/1.1 200 ")) ++accepted_inputs;
  return 0;
}
