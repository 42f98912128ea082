// Who may send requests: pages of browsers, and everybody else.

#include <gmock/gmock.h>
#include <limits.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/http/allowed_hosts.h"
#include "server/http/http_server.h"
#include "tests/support/field_rows.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<HttpServer> StartServer(const nlohmann::json& given) {
  HttpOptions options = {.host = "127.0.0.1", .port = 0};
  const std::vector<std::string> none;
  options.allowed_hosts = given.value("allowed_hosts", none);
  options.cors_origins = given.value("cors_origins", none);
  options.needs_keys = given.value("needs_keys", false);
  HttpRouter router;
  const HttpHandler answer = [](const HttpRequest&,
                                std::shared_ptr<HttpExchange> to) {
    to->Reply(TextResponse(200, "ok\n"));
  };
  router.Add("GET", "/livez", answer);
  router.Add("POST", "/echo", answer);
  auto server = HttpServer::Start(options, std::move(router));
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

std::string Ask(int port, absl::string_view method, absl::string_view target,
                absl::string_view host, absl::string_view headers = "") {
  RawHttp client;
  EXPECT_TRUE(client.Connect(port));
  EXPECT_TRUE(
      client.Send(absl::StrCat(method, " ", target, " HTTP/1.1\r\nHost: ", host,
                               "\r\n", headers, "Connection: close\r\n\r\n")));
  return client.ReadToEnd();
}

TEST(HttpSendersTest, RequestsOfTheField) {
  for (const auto& row : FieldRows("http_senders")) {
    SCOPED_TRACE(row.at("case").get<std::string>());
    const auto server =
        StartServer(row.value("options", nlohmann::json::object()));
    EXPECT_THAT(
        Ask(server->port(), row.value("method", "GET"),
            row.value("target", "/livez"), row.at("host").get<std::string>(),
            row.value("headers", "")),
        StartsWith(
            absl::StrCat("HTTP/1.1 ", row.at("status").get<int>(), " ")));
  }
}

TEST(HttpSendersTest, TheMachineHasAName) {
  char name[HOST_NAME_MAX + 1] = "";
  ASSERT_EQ(gethostname(name, HOST_NAME_MAX), 0);
  const auto server = StartServer(nlohmann::json::object());
  EXPECT_THAT(Ask(server->port(), "GET", "/livez", name),
              StartsWith("HTTP/1.1 200 "));
  const AllowedHosts hosts({}, {"node.example", ""});
  EXPECT_TRUE(hosts.Allow("node.example"));
  EXPECT_FALSE(hosts.Allow("a.node.example"));
  EXPECT_FALSE(hosts.restricts());
}

TEST(HttpSendersTest, AllowedHostsAreChecked) {
  EXPECT_TRUE(CheckAllowedHosts({"*", "a.example", "*.a.example", "10.0.0.1",
                                 "::1", "[::1]", "localhost"})
                  .ok());
  for (const char* wrong :
       {"", "a.example:8080", "http://a.example", "a.example/", "a*.example",
        "*.*.example", "*.", "a b", "[::1]:80", "a,b", "a:", "[::1"}) {
    EXPECT_THAT(std::string(CheckAllowedHosts({wrong}).message()),
                HasSubstr(absl::StrCat("http_allowed_host has '", wrong, "'")))
        << wrong;
  }
}

}  // namespace
}  // namespace attend
