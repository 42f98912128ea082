#include "server/http/http_server.h"

#include <gmock/gmock.h>
#include <netdb.h>

#include <atomic>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/server/http/test_server.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(HttpServerTest, ServesMetrics) {
  const auto server = StartTestServer({});
  const std::string answer = HttpGet(server->port(), "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nm 1\n"));
}

TEST(HttpServerTest, LiveAndReadyFollowTheirSources) {
  std::atomic<bool> live{true};
  std::atomic<bool> ready{true};
  const auto server =
      StartTestServer({}, {.metrics = [] { return std::string(); },
                           .live = [&] { return live.load(); },
                           .ready = [&] { return ready.load(); }});
  EXPECT_THAT(HttpGet(server->port(), "/readyz"), StartsWith("HTTP/1.1 200 "));
  ready = false;
  EXPECT_THAT(HttpGet(server->port(), "/readyz"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(HttpGet(server->port(), "/livez"), StartsWith("HTTP/1.1 200 "));
  live = false;
  EXPECT_THAT(HttpGet(server->port(), "/livez"), StartsWith("HTTP/1.1 503 "));
}

TEST(HttpServerTest, WithoutMemoryForAnAnswerOneConnectionEnds) {
  bool fails = true;
  const auto server =
      StartTestServer({}, {.metrics = [] { return ""; },
                           .live =
                               [&] {
                                 if (std::exchange(fails, false)) {
                                   throw std::bad_alloc();
                                 }
                                 return true;
                               },
                           .ready = [] { return true; }});
  RawHttp other;
  ASSERT_TRUE(other.Connect(server->port()));
  EXPECT_EQ(HttpGet(server->port(), "/livez"), "");
  ASSERT_TRUE(other.Send(HttpRequestText("GET", "/livez")));
  EXPECT_THAT(other.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerTest, AConnectionServesManyRequests) {
  const auto server = StartTestServer({});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server->port()));
  for (const char* path : {"/livez", "/metrics", "/missing", "/livez?full=1"}) {
    ASSERT_TRUE(client.Send(HttpRequestText("GET", path)));
    EXPECT_THAT(client.ReadAnswer(), HasSubstr("Connection: keep-alive\r\n"))
        << path;
  }
  // Sent before the answers are read.
  ASSERT_TRUE(client.Send(absl::StrCat(HttpRequestText("GET", "/readyz"),
                                       HttpRequestText("GET", "/livez"))));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  ASSERT_TRUE(
      client.Send(HttpRequestText("GET", "/livez", "Connection: close\r\n")));
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("Connection: close\r\n"));
}

TEST(HttpServerTest, ClientsOfHttp10) {
  const auto server = StartTestServer({});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server->port()));
  ASSERT_TRUE(client.Send("GET /livez HTTP/1.0\r\n\r\n"));
  client.EndSending();
  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\nok\n"));
}

TEST(HttpServerTest, HeadHasNoBody) {
  const auto server = StartTestServer({});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server->port()));
  ASSERT_TRUE(client.Send(HttpRequestText("HEAD", "/livez")));
  EXPECT_THAT(client.ReadAnswer(/*has_body=*/false),
              HasSubstr("Content-Length: 3\r\n"));
  ASSERT_TRUE(client.Send(
      HttpRequestText("HEAD", "/missing", "Connection: close\r\n")));
  const std::string answer = client.ReadToEnd();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(HttpServerTest, UnknownPathsAndMethods) {
  const auto server = StartTestServer({});
  for (const char* path :
       {"/", "/metrics/", "/metrics/../../etc/passwd", "/live%7a"}) {
    const std::string answer = HttpGet(server->port(), path);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 Not Found\r\n")) << path;
    EXPECT_THAT(answer, HasSubstr("/livez, /metrics, /readyz"));
    EXPECT_THAT(answer, Not(HasSubstr("passwd")));
  }
  for (const char* method : {"POST", "DELETE", "OPTIONS", "TRACE"}) {
    RawHttp client;
    ASSERT_TRUE(client.Connect(server->port()));
    ASSERT_TRUE(client.Send(HttpRequestText(method, "/metrics")));
    const std::string answer = client.ReadAnswer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 ")) << method;
    EXPECT_THAT(answer, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("TRACE")));
  }
}

TEST(HttpServerTest, RefusesWhatIsNotARequest) {
  const auto server = StartTestServer({});
  const std::string long_value(kMaxHttpHeadBytes, 'x');
  const struct {
    std::string text;
    const char* status;
  } cases[] = {
      {"nonsense\r\n\r\n", "400"},
      {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03", 10), "400"},
      {"GET /livez HTTP/1.1\r\n\r\n", "400"},  // no Host
      {"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
      {HttpRequestText("GET", "/livez", "a\x01: b\r\n"), "400"},
      {HttpRequestText("GET", "/livez", "no colon\r\n"), "400"},
      {HttpRequestText("GET", "/livez", std::string("a: \0\r\n", 6)), "400"},
      {HttpRequestText("POST", "/livez", "Content-Length: -1\r\n"), "400"},
      {HttpRequestText("POST", "/livez",
                       "Content-Length: 99999999999999999999999\r\n"),
       "400"},
      {HttpRequestText("POST", "/livez",
                       "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"),
       "400"},
      {HttpRequestText("POST", "/livez", "Content-Length: 16777217\r\n"),
       "413"},
      {HttpRequestText("POST", "/livez", "Expect: a miracle\r\n"), "417"},
      {HttpRequestText("POST", "/livez", "Transfer-Encoding: gzip\r\n"), "400"},
      {HttpRequestText("POST", "/livez",
                       "Transfer-Encoding: gzip, chunked\r\n"),
       "501"},
      {HttpRequestText("GET", "/" + long_value), "414"},
      {HttpRequestText("GET", "/livez", "a: " + long_value + "\r\n"), "431"},
      {long_value, "501"},
  };
  for (const auto& c : cases) {
    RawHttp client;
    ASSERT_TRUE(client.Connect(server->port()));
    // The server may have seen enough before all is sent.
    client.Send(c.text);
    EXPECT_THAT(client.ReadToEnd(),
                StartsWith(absl::StrCat("HTTP/1.1 ", c.status, " ")))
        << c.text;
  }
  EXPECT_THAT(HttpGet(server->port(), "/livez"), StartsWith("HTTP/1.1 200 "));
}

// Nobody asks for it, and what follows on the connection is not read.
TEST(HttpServerTest, ABodyThatNoHandlerWantsEndsTheConnection) {
  const auto server = StartTestServer({});
  for (const auto& [method, status] :
       {std::pair("GET", "200"), std::pair("POST", "405")}) {
    for (const char* framing :
         {"Content-Length: 2\r\n", "Transfer-Encoding: chunked\r\n",
          "Expect: 100-continue\r\nContent-Length: 9\r\n"}) {
      RawHttp client;
      ASSERT_TRUE(client.Connect(server->port()));
      client.Send(HttpRequestText(method, "/livez", framing) + "{}");
      const std::string answer = client.ReadToEnd();
      EXPECT_THAT(answer, StartsWith(absl::StrCat("HTTP/1.1 ", status, " ")));
      EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    }
  }
}

TEST(HttpServerTest, RepliesComeFromAnyThreadInTheOrderOfRequests) {
  std::shared_ptr<HttpExchange> kept;
  std::atomic<bool> asked{false};
  HttpRouter router;
  router.Add("GET", "/slow",
             [&](const HttpRequest&, std::shared_ptr<HttpExchange> exchange) {
               kept = std::move(exchange);
               asked = true;
               asked.notify_one();
             });
  router.Add(
      "POST", "/fast/*",
      [](const HttpRequest& request, std::shared_ptr<HttpExchange> exchange) {
        exchange->Reply(TextResponse(
            200,
            absl::StrCat(request.method, request.path_rest, "?", request.query,
                         request.Header("X-A").value_or("none"),
                         request.Header("x-b").value_or("none"))));
      });
  const auto server =
      HttpServer::Start({.host = "127.0.0.1", .port = 0}, std::move(router));
  ASSERT_TRUE(server.ok()) << server.status();
  RawHttp client;
  ASSERT_TRUE(client.Connect((*server)->port()));
  ASSERT_TRUE(client.Send(
      absl::StrCat(HttpRequestText("GET", "/slow"),
                   HttpRequestText("POST", "/fast/a/b?c", "x-a: d\r\n"))));
  asked.wait(false);
  std::thread([&] { kept->Reply(TextResponse(202, "later")); }).join();
  EXPECT_THAT(client.ReadAnswer(), EndsWith("\r\n\r\nlater"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("\r\n\r\nPOSTa/b?cdnone"));
  // Of an exchange that is over nothing is heard any more.
  kept->Reply(TextResponse(202, "again"));
  EXPECT_THAT(HttpGet((*server)->port(), "/fast/"),
              StartsWith("HTTP/1.1 404 "));
}

// Whether a name has an address of the family.
bool Has(const std::string& name, int family) {
  addrinfo hints = {};
  hints.ai_family = family;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(name.empty() ? nullptr : name.c_str(), "1", &hints, &found);
  if (error == 0) freeaddrinfo(found);
  return error == 0;
}

TEST(HttpServerTest, ListensOnAllAddressesThatAHostStandsFor) {
  ASSERT_EQ(HttpOptions().host, "0.0.0.0");
  for (const std::string host : {"0.0.0.0", "::", "localhost", ""}) {
    const bool all = host == "0.0.0.0" || host == "::";
    const auto server = StartTestServer({.host = host});
    ASSERT_NE(server, nullptr);
    for (const bool ipv6 : {false, true}) {
      if (!all && !Has(host, ipv6 ? AF_INET6 : AF_INET)) continue;
      RawHttp client(ipv6);
      ASSERT_TRUE(client.Connect(server->port())) << host << ipv6;
      ASSERT_TRUE(client.Send(HttpRequestText("GET", "/livez")));
      EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
    }
  }
}

TEST(HttpServerTest, ListensOnIpv6) {
  for (const char* host : {"::", "::1", "[::1]"}) {
    const auto server = StartTestServer({.host = host});
    RawHttp client(/*ipv6=*/true);
    ASSERT_TRUE(client.Connect(server->port())) << host;
    ASSERT_TRUE(client.Send(HttpRequestText("GET", "/livez")));
    EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  }
}

// Why a server cannot start.
std::string Refusal(const std::string& host, int port) {
  const absl::Status status =
      HttpServer::Start({.host = host, .port = port}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  return std::string(status.message());
}

TEST(HttpServerTest, SaysWhyItCannotListen) {
  for (const auto& [host, shown] :
       {std::pair("127.0.0.1", "127.0.0.1"), std::pair("::1", "[::1]")}) {
    const auto server = StartTestServer({.host = host});
    EXPECT_EQ(Refusal(host, server->port()),
              absl::StrCat("cannot listen for http on ", shown, ":",
                           server->port(), ": address already in use"));
  }
  EXPECT_EQ(Refusal("192.0.2.1", 1),
            "cannot listen for http on 192.0.2.1:1: cannot assign requested "
            "address");
  EXPECT_THAT(Refusal("no.such.invalid", 1),
              StartsWith("cannot listen for http on no.such.invalid:1: host "
                         "not found"));
}

TEST(HttpServerTest, MetricsAndHealthMayNeedKeys) {
  const auto needs = [](const char* key) {
    return
        [key](absl::string_view authorization) { return authorization == key; };
  };
  const OperatorSources open = {.metrics = [] { return std::string("m 1\n"); },
                                .live = [] { return true; },
                                .ready = [] { return true; }};
  OperatorSources closed = open;
  closed.may_see_metrics = needs("Bearer abc");
  auto server = StartTestServer({.host = "127.0.0.1"}, closed);
  ASSERT_NE(server, nullptr);
  const auto ask = [&](const std::string& path, const std::string& headers) {
    RawHttp client;
    EXPECT_TRUE(client.Connect(server->port()));
    EXPECT_TRUE(
        client.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n",
                                 headers, "Connection: close\r\n\r\n")));
    return client.ReadToEnd();
  };
  EXPECT_THAT(ask("/metrics", "authorization: Bearer abc\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("m 1")));
  for (const char* wrong :
       {"", "Authorization: Bearer abd\r\n", "Authorization:\r\n",
        "Authorization: Bearer abc\r\nAuthorization: Bearer abc\r\n"}) {
    EXPECT_THAT(
        ask("/metrics", wrong),
        AllOf(StartsWith("HTTP/1.1 401 "),
              HasSubstr("WWW-Authenticate: Bearer\r\n"), Not(HasSubstr("m 1"))))
        << wrong;
  }
  EXPECT_THAT(ask("/livez", ""), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("/readyz", ""), StartsWith("HTTP/1.1 200 "));

  closed = open;
  closed.may_see_health = needs("Bearer xyz");
  server = StartTestServer({.host = "127.0.0.1"}, closed);
  ASSERT_NE(server, nullptr);
  for (const char* path : {"/livez", "/readyz"}) {
    EXPECT_THAT(ask(path, ""), StartsWith("HTTP/1.1 401 ")) << path;
    EXPECT_THAT(ask(path, "Authorization: Bearer xyz\r\n"),
                StartsWith("HTTP/1.1 200 "))
        << path;
  }
  EXPECT_THAT(ask("/metrics", ""), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerTest, StopsWithOpenConnectionsAndStartsOnTheSamePort) {
  int port = 0;
  for (int i = 0; i < 20; ++i) {
    HttpRouter router;
    AddOperatorRoutes(router, {.metrics = [] { return std::string("m 1\n"); },
                               .live = [] { return true; },
                               .ready = [] { return true; }});
    const auto server = HttpServer::Start({.host = "127.0.0.1", .port = port},
                                          std::move(router));
    ASSERT_TRUE(server.ok()) << server.status();
    port = (*server)->port();
    RawHttp idle, partial, asking;
    for (RawHttp* client : {&idle, &partial, &asking}) {
      ASSERT_TRUE(client->Connect(port));
    }
    ASSERT_TRUE(partial.Send("GET /li"));
    ASSERT_TRUE(asking.Send(HttpRequestText("GET", "/metrics")));
    EXPECT_THAT(HttpGet(port, "/livez"), StartsWith("HTTP/1.1 200 "));
  }
}

}  // namespace
}  // namespace attend
