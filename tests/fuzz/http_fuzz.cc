// What a client sends to the HTTP port on one connection. The connection is a
// pair of sockets, and its event loop runs here: an input waits for no thread.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "server/budget/request_budget.h"
#include "server/http/http_session.h"
#include "server/http/operator_routes.h"
#include "tests/fuzz/fuzz.h"

namespace attend {
namespace {

using Tcp = boost::asio::ip::tcp;

HttpRouter Router() {
  HttpRouter router;
  AddOperatorRoutes(
      router, {.metrics = [] { return std::string("m 1\n"); },
               .live = [] { return true; },
               .ready = [] { return false; },
               .may_see_metrics =
                   [](absl::string_view key) { return key == "Bearer k"; }});
  return router;
}

// The loop, and what its sessions share.
struct Server {
  boost::asio::io_context loop{1};
  RequestBudget requests{kMaxRequestBytes};
  HttpEnvironment environment{.options = {},
                              .router = Router(),
                              .certificates = nullptr,
                              .connections = Connections(4),
                              .requests = requests};
};

// The other end of a connection.
class Client {
 public:
  Client(int socket, absl::string_view input)
      : socket_(socket), unsent_(input) {}
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends and reads what can be at once. False: no more will come.
  bool Go() {
    while (!unsent_.empty()) {
      const ssize_t count =
          send(socket_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (count < 0) break;  // the socket is full, or closed
      unsent_.remove_prefix(count);
    }
    if (unsent_.empty()) shutdown(socket_, SHUT_WR);
    char bytes[4096];
    ssize_t count;
    while ((count = read(socket_, bytes, sizeof(bytes))) > 0) {
      answers_.append(bytes, count);
    }
    return count < 0 && errno == EAGAIN;
  }
  const std::string& answers() const { return answers_; }

 private:
  const int socket_;
  absl::string_view unsent_;
  std::string answers_;
};

std::string Exchange(Server& server, absl::string_view input) {
  int ends[2];
  ATTEND_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  Client client(ends[0], input);
  Tcp::socket socket(server.loop);
  socket.assign(Tcp::v4(), ends[1]);
  StartSession(std::move(socket), server.environment);
  server.loop.restart();
  server.loop.poll();
  // Then there is nothing to do but to wait for a page of metrics, which comes
  // from a thread of its own.
  while (client.Go()) {
    server.loop.restart();
    server.loop.run_for(std::chrono::milliseconds(1));
  }
  server.loop.restart();
  server.loop.poll();  // what the end has left to do
  return client.answers();
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static Server server;
  const std::string answers = Exchange(server, View(data, size));
  ATTEND_CHECK(answers.empty() || absl::StartsWith(answers, "HTTP/1.1 "));
  // Nothing of what a client sends comes back.
  ATTEND_CHECK(!absl::StrContains(answers, "fuzz"));
  if (absl::StartsWith(answers, "HTTP/1.1 200 ")) ++accepted_inputs;
  return 0;
}
