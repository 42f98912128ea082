#include "tests/integration/server_process.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"

namespace attend {
namespace {

std::unique_ptr<ServerProcess>& Shared() {
  static std::unique_ptr<ServerProcess> server;
  return server;
}

class StopShared : public ::testing::Environment {
  void TearDown() override {
    if (Shared() == nullptr) return;
    EXPECT_EQ(Shared()->Stop(), 0) << Shared()->process().output();
    Shared().reset();
  }
};
const auto* const kStopShared =
    ::testing::AddGlobalTestEnvironment(new StopShared);

// The bundled model, unless the flags name others.
std::vector<std::string> Command(const std::vector<std::string>& flags,
                                 int descriptors) {
  std::vector<std::string> command;
  if (descriptors > 0) {
    command = {
        "/bin/sh", "-c",
        absl::StrCat("ulimit -n ", descriptors, " && exec \"$0\" \"$@\"")};
  }
  for (const char* word :
       {ATTEND_SERVER, "--host=127.0.0.1", "--port=0", "--http-host=127.0.0.1",
        "--http-port=0", "--kv-cache-bytes=64MiB", "--dtype=f32"}) {
    command.push_back(word);
  }
  if (!NamesModels(flags)) command.push_back("--model=" + BundledModel());
  command.insert(command.end(), flags.begin(), flags.end());
  return command;
}

// All that the other side sends until it closes.
std::string Exchange(int port, const std::string& request) {
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string reply;
  if (connect(socket_fd, reinterpret_cast<sockaddr*>(&address),
              sizeof(address)) == 0 &&
      send(socket_fd, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    char buffer[4096];
    ssize_t count;
    while ((count = recv(socket_fd, buffer, sizeof(buffer), 0)) > 0) {
      reply.append(buffer, count);
    }
  }
  close(socket_fd);
  return reply;
}

}  // namespace

std::string BundledModel() { return ATTEND_SOURCE_DIR "/models/en-de"; }

bool NamesModels(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.rfind("--model", 0) == 0 || flag.rfind("--hub=", 0) == 0;
  });
}

ServerProcess::ServerProcess(const std::vector<std::string>& flags,
                             int descriptors)
    : process_(Command(flags, descriptors)) {
  if (!process_.WaitForOutput("event=ready") ||
      !process_.WaitForOutput(" seconds=")) {
    ADD_FAILURE() << "the server did not start: " << process_.output();
    return;
  }
  address_ = "127.0.0.1:" + Field("grpc_port");
  http_port_ = Field("http_port");
}

std::string ServerProcess::Field(const std::string& name) const {
  const std::string log = process_.output();
  const size_t begin = log.find(name + "=") + name.size() + 1;
  return log.substr(begin, log.find_first_not_of("0123456789", begin) - begin);
}

int ServerProcess::port() const {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(Field("grpc_port"), &port));
  return port;
}

ClientOptions ServerProcess::client_options() const {
  ClientOptions options;
  options.address = address_;
  options.health_checks = false;  // servers are called that serve nothing yet
  options.timeout = absl::Minutes(2);
  options.retry.max_attempts = 1;
  return options;
}

HttpReply ServerProcess::Get(const std::string& path) const {
  int port = 0;
  if (!absl::SimpleAtoi(http_port_, &port)) return {};
  const std::string reply =
      Exchange(port, "GET " + path +
                         " HTTP/1.1\r\nHost: localhost\r\n"
                         "Connection: close\r\n\r\n");
  const std::vector<std::string> words =
      absl::StrSplit(reply.substr(0, reply.find("\r\n")), ' ');
  HttpReply result;
  if (words.size() < 2 || !absl::SimpleAtoi(words[1], &result.code)) return {};
  const size_t blank = reply.find("\r\n\r\n");
  if (blank != std::string::npos) result.body = reply.substr(blank + 4);
  return result;
}

Series ServerProcess::Metrics() const {
  return ParseMetrics(Get("/metrics").body);
}

double ServerProcess::Metric(const std::string& series) const {
  const Series all = Metrics();
  const auto found = all.find(series);
  if (found != all.end()) return found->second;
  ADD_FAILURE() << "no series " << series;
  return -1;
}

bool ServerProcess::IsIdle() const {
  const Series all = Metrics();
  for (const char* name : {"attend_running_sequences", "attend_queued_requests",
                           "attend_queued_tokens", "attend_kv_blocks_used"}) {
    // One for each model.
    const std::string prefix = absl::StrCat(name, "{");
    auto series = all.lower_bound(prefix);
    if (series == all.end() || !absl::StartsWith(series->first, prefix)) {
      return false;
    }
    for (; series != all.end() && absl::StartsWith(series->first, prefix);
         ++series) {
      if (series->second != 0) return false;
    }
  }
  return true;
}

int ServerProcess::Stop() {
  process_.Signal(SIGTERM);
  return process_.Wait();
}

ServerProcess& SharedServer() {
  if (Shared() == nullptr) Shared() = std::make_unique<ServerProcess>();
  return *Shared();
}

bool Eventually(const std::function<bool()>& condition) {
  const absl::Time limit = absl::Now() + absl::Minutes(1);
  while (!condition()) {
    if (absl::Now() > limit) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

Series ParseMetrics(const std::string& text) {
  Series series;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t space = line.rfind(' ');
    double value = 0;
    if (line.empty() || line[0] == '#' || space == line.npos ||
        !absl::SimpleAtod(line.substr(space + 1), &value)) {
      continue;
    }
    series[std::string(line.substr(0, space))] = value;
  }
  return series;
}

}  // namespace attend
