#ifndef ATTEND_TESTS_SERVER_HTTP_CALL_HTTP_FIXTURE_H_
#define ATTEND_TESTS_SERVER_HTTP_CALL_HTTP_FIXTURE_H_

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/app/served_models.h"
#include "server/http/http_server.h"
#include "server/http_call/http_calls.h"
#include "server/observability/metrics.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_tokenizer.h"
#include "tests/support/raw_http.h"
#include "tests/support/wait_until.h"

namespace attend {

struct HttpFixtureOptions {
  std::vector<FakeEngineOptions> engines = {{}};
  std::vector<FakeLanguages> languages = {};  // of the first engines
  std::vector<HttpApi> apis = {};
  HttpOptions http = {};
  SchedulerOptions scheduler = {};
  int max_batch_inputs = 256;
  size_t max_call_bytes = size_t{256} << 20;
  size_t max_unread_bytes = size_t{256} << 20;
  int max_tokenizer_queue = 64;
  const Tenants* tenants = nullptr;  // must outlive the fixture
  // Of TLS; null: none. Must outlive the fixture.
  const Certificates* certificates = nullptr;
  bool needs_certificates = false;
  // Of the models that continue text; must outlive the fixture.
  std::unique_ptr<ChatTemplate> chat = nullptr;
};

// A whole server over fakes, whose APIs are served over HTTP on the loopback.
class HttpFixture {
 public:
  explicit HttpFixture(HttpFixtureOptions options)
      : metrics("test", AllMethodNames(AttendMethods(), options.apis)),
        log(LogOptions(), null_.descriptor),
        models(options.scheduler, clock, metrics, signal_) {
    for (const FakeEngineOptions& engine : options.engines) {
      auto added = std::make_unique<FakeEngine>(engine);
      engines.push_back(added.get());
      FakeLanguages languages;
      if (engines.size() <= options.languages.size()) {
        languages = options.languages[engines.size() - 1];
      }
      models.Add(
          engine.info.name,
          Model{.engine = std::move(added),
                .tokenizer =
                    std::make_unique<FakeTokenizer>(1000, std::move(languages)),
                .chat = engine.info.continues_source ? std::move(options.chat)
                                                     : nullptr});
    }
    calls.emplace(Service{.models = models.table(),
                          .clock = clock,
                          .other_calls = metrics.other_calls(),
                          .log = log,
                          .max_batch_inputs = options.max_batch_inputs,
                          .max_call_bytes = options.max_call_bytes,
                          .max_unread_bytes = options.max_unread_bytes,
                          .tenants = options.tenants},
                  /*tokenizer_threads=*/2, options.max_tokenizer_queue);
    http_calls.emplace(*calls, signal_, options.needs_certificates);
    HttpRouter router;
    for (const HttpApi& api : options.apis) http_calls->AddRoutes(api, router);
    router.Add("GET", "/livez",
               [](const HttpRequest&, std::shared_ptr<HttpExchange> exchange) {
                 exchange->Reply(TextResponse(200, "ok\n"));
               });
    options.http.host = "127.0.0.1";
    options.http.port = 0;
    options.http.tls = options.certificates != nullptr;
    auto started = HttpServer::Start(options.http, std::move(router),
                                     options.certificates, &calls->requests);
    EXPECT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
  }
  ~HttpFixture() {
    OpenGates();
    http_calls->Shutdown(absl::ZeroDuration());
    server.reset();
  }

  int port() const { return server->port(); }
  FakeEngine& engine() { return *engines.front(); }
  void OpenGates() {
    for (FakeEngine* engine : engines) engine->OpenGate();
  }
  // Returns when no request is left in a scheduler; false: that takes long.
  bool WaitUntilFree() {
    return WaitUntil([this] {
      for (FakeEngine* engine : engines) {
        if (engine->live_sequences() > 0) return false;
      }
      return true;
    });
  }
  // The answer to a POST on a connection of its own.
  std::string Post(absl::string_view path, absl::string_view body,
                   absl::string_view headers = "") const {
    RawHttp client;
    if (!client.Connect(port()) ||
        !client.Send(PostText(path, body, headers))) {
      return "";
    }
    return client.ReadToEnd();
  }
  static std::string PostText(absl::string_view path, absl::string_view body,
                              absl::string_view headers = "") {
    return absl::StrCat(
        HttpRequestText(
            "POST", path,
            absl::StrCat("Connection: close\r\nContent-Type: application/json"
                         "\r\nContent-Length: ",
                         body.size(), "\r\n", headers)),
        body);
  }

  // Waits, since a call is counted after its last byte has been sent.
  void ExpectCounted(const std::string& labels) {
    const std::string line =
        absl::StrCat("attend_requests_total{", labels, "}");
    EXPECT_TRUE(WaitUntil([&] {
      return metrics.Serialize().find(line) != std::string::npos;
    })) << metrics.Serialize();
  }

 private:
  struct NullDevice {
    const int descriptor = open("/dev/null", O_WRONLY);
    ~NullDevice() { close(descriptor); }
  };
  const NullDevice null_;
  StepSignal signal_;

 public:
  const SteadyClock clock;
  Metrics metrics;
  Log log;
  ServedModels models;
  std::vector<FakeEngine*> engines;
  std::optional<CallEnvironment> calls;
  std::optional<HttpCalls> http_calls;
  std::unique_ptr<HttpServer> server;
};

// What follows the head of an answer.
inline std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_HTTP_CALL_HTTP_FIXTURE_H_
