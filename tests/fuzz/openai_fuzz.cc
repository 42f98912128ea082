// A request to one of the HTTP APIs, from its body to its answer. The first
// byte says which route, from 'a' on; from 'A' on with a form as its body.
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/http/http_server.h"
#include "server/http_call/http_calls.h"
#include "server/libretranslate/libretranslate_api.h"
#include "server/openai/openai_api.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_service.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

std::vector<HttpApi> Apis() {
  std::vector<HttpApi> apis = OpenAiApis();
  apis.push_back(LibreTranslateApi());
  return apis;
}

// The routes that take a body.
std::vector<std::string> Paths() {
  std::vector<std::string> paths;
  for (const HttpApi& api : Apis()) {
    for (const HttpMethod& method : api.methods) {
      if (method.verb == "POST") paths.push_back(method.path);
    }
  }
  return paths;
}

class FuzzedServer {
 public:
  FuzzedServer() {
    HttpRouter router;
    for (const HttpApi& api : Apis()) calls_.AddRoutes(api, router);
    HttpOptions options;
    options.host = "127.0.0.1";
    options.port = 0;
    auto started = HttpServer::Start(options, std::move(router));
    ATTEND_CHECK(started.ok());
    server_ = *std::move(started);
  }
  ~FuzzedServer() {
    calls_.Shutdown(absl::ZeroDuration());
    server_.reset();
  }

  // The whole answer to a body.
  std::string Ask(absl::string_view path, absl::string_view body,
                  bool form) const {
    RawHttp client;
    ATTEND_CHECK(client.Connect(server_->port()));
    ATTEND_CHECK(client.Send(absl::StrCat(
        HttpRequestText("POST", path,
                        absl::StrCat("Connection: close\r\nContent-Length: ",
                                     body.size(), "\r\n",
                                     form ? "Content-Type: application/"
                                            "x-www-form-urlencoded\r\n"
                                          : "")),
        body)));
    return client.ReadToEnd();
  }

 private:
  FuzzService service_{Apis()};
  HttpCalls calls_{service_.calls(), service_.step_signal()};
  std::unique_ptr<HttpServer> server_;
};

void CheckJson(absl::string_view text) {
  ATTEND_CHECK(nlohmann::json::accept(text.begin(), text.end()));
}

// A status that docs/openai.md lists, other than that of a bug; and JSON, or
// events of JSON.
void Check(absl::string_view answer) {
  static const auto* const statuses =
      new std::set<int>{200, 400, 404, 429, 503};
  ATTEND_CHECK(absl::ConsumePrefix(&answer, "HTTP/1.1 "));
  int status = 0;
  ATTEND_CHECK(absl::SimpleAtoi(answer.substr(0, 3), &status));
  ATTEND_CHECK(statuses->count(status) == 1);
  const size_t head = answer.find("\r\n\r\n");
  ATTEND_CHECK(head != answer.npos);
  const absl::string_view body = answer.substr(head + 4);
  // An error shows little of what the client sent: at most thrice (twice in a
  // message, and as the parameter) 100 bytes, each as `\\x7f`.
  ATTEND_CHECK(status == 200 || body.size() < 3 * 100 * 5 + 500);
  if (answer.substr(0, head).find("event-stream") == answer.npos) {
    return CheckJson(body);
  }
  // In chunks or not: what begins an event is followed by JSON.
  for (absl::string_view line : absl::StrSplit(body, '\n')) {
    if (!absl::ConsumePrefix(&line, "data: ") || line == "[DONE]") continue;
    CheckJson(line);
  }
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const std::vector<std::string> paths = Paths();
  static const FuzzedServer server;
  if (size == 0) return 0;
  const bool form = data[0] < 'a';
  const size_t index = static_cast<size_t>(data[0]) - (form ? 'A' : 'a');
  if (index >= paths.size()) return 0;
  const std::string answer =
      server.Ask(paths[index], View(data + 1, size - 1), form);
  Check(answer);
  if (answer.find(" 200 ") == 8) ++accepted_inputs;
  return 0;
}
