#ifndef ATTEND_TESTS_INTEGRATION_SERVER_PROCESS_H_
#define ATTEND_TESTS_INTEGRATION_SERVER_PROCESS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/cpp/lib/client.h"
#include "tests/integration/process.h"

namespace attend {

// The bundled model, and its name on the server.
std::string BundledModel();
inline constexpr char kModelName[] = "en-de";
// Whether a server with these flags takes its models from them.
bool NamesModels(const std::vector<std::string>& flags);

struct HttpReply {
  int code = 0;  // 0: nobody answered
  std::string body;
};

// Values by series: name and labels as /metrics writes them.
using Series = std::map<std::string, double>;

// attend-server with the bundled model, or those in the flags, on free ports of
// the loopback.
class ServerProcess {
 public:
  // Waits until it is ready; fails the test, with its log, if it ends instead.
  // `flags` come after the ports and a KV pool that suffices for all tests.
  // `descriptors`: the most that it may open; 0: as the test itself.
  explicit ServerProcess(const std::vector<std::string>& flags = {},
                         int descriptors = 0);

  const std::string& address() const { return address_; }
  int port() const;
  const std::string& http_port() const { return http_port_; }
  // Never retries: a test wants the first answer.
  ClientOptions client_options() const;

  HttpReply Get(const std::string& path) const;
  Series Metrics() const;
  double Metric(const std::string& series) const;
  // True when nothing waits, runs or holds memory, by the metrics.
  bool IsIdle() const;

  Process& process() { return process_; }
  // SIGTERM, then the exit code.
  int Stop();

 private:
  std::string Field(const std::string& name) const;

  Process process_;
  std::string address_;
  std::string http_port_;
};

// One for all tests that need no flags of their own; stopped, and its exit code
// checked, at the end.
ServerProcess& SharedServer();

// Asks again and again; false after a minute, which only a hang takes.
bool Eventually(const std::function<bool()>& condition);

// The values in the text that /metrics answers.
Series ParseMetrics(const std::string& text);

}  // namespace attend

#endif  // ATTEND_TESTS_INTEGRATION_SERVER_PROCESS_H_
