#include "server/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

int Connect(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(
      connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
      0);
  return socket;
}

// The whole answer to `text`.
std::string Exchange(int port, const std::string& text) {
  const int socket = Connect(port);
  EXPECT_EQ(send(socket, text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = recv(socket, buffer, sizeof(buffer), 0)) > 0;) {
    answer.append(buffer, n);
  }
  close(socket);
  return answer;
}

std::string Get(int port, const std::string& path) {
  return Exchange(port, absl::StrCat("GET ", path,
                                     " HTTP/1.1\r\nHost: a\r\nConnection: "
                                     "close\r\n\r\n"));
}

// One server for all: civetweb takes a while to stop.
class HttpServerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto server = HttpServer::Start(
        {.host = "127.0.0.1", .port = 0},
        {.metrics = [] { return std::string("a_metric 1\n"); },
         .ready = [] { return ready_.load(); }});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  static void TearDownTestSuite() { server_.reset(); }

  static inline std::atomic<bool> ready_{true};
  static inline std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ServesMetrics) {
  const std::string answer = Get(server_->port(), "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("text/plain; version=0.0.4"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\na_metric 1\n"));
}

TEST_F(HttpServerTest, ReadyFollowsItsHandlerAndLiveDoesNot) {
  EXPECT_THAT(Get(server_->port(), "/readyz"), StartsWith("HTTP/1.1 200 "));
  ready_ = false;
  EXPECT_THAT(Get(server_->port(), "/readyz"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Get(server_->port(), "/livez"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(Get(server_->port(), "/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get(server_->port(), "/metrics/../../etc/passwd"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Exchange(server_->port(),
                       "POST /metrics HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 0\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Exchange(server_->port(), "nonsense\r\n\r\n"),
              HasSubstr(" 400 Bad Request"));
}

TEST_F(HttpServerTest, AClientThatSaysNothingHoldsNobodyUp) {
  const int silent = Connect(server_->port());
  EXPECT_THAT(Get(server_->port(), "/livez"), StartsWith("HTTP/1.1 200 "));
  close(silent);
}

TEST_F(HttpServerTest, APortInUseIsAnError) {
  const auto second = HttpServer::Start(
      {.host = "127.0.0.1", .port = server_->port()}, HttpHandlers());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(second.status().message(),
              HasSubstr(absl::StrCat("127.0.0.1:", server_->port())));
}

}  // namespace
}  // namespace attend
