#ifndef ATTEND_SERVER_HTTP_HTTP_SERVER_H_
#define ATTEND_SERVER_HTTP_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace attend {

struct HttpOptions {
  // Address that the HTTP port listens on.
  std::string host = "0.0.0.0";
  // Port of /metrics, /livez and /readyz. 0: any free one.
  int port = 9090;
};

// The sources of the HTTP port's answers. Called on the server's threads.
struct HttpHandlers {
  std::function<std::string()> metrics;  // in Prometheus' text format
  std::function<bool()> ready;
};

// The port for operators: /metrics, /livez (200 while the process can answer)
// and /readyz (200 or 503). It has four threads and a short timeout, whatever
// clients do, and shares nothing with the port that serves models.
class HttpServer {
 public:
  // UNAVAILABLE if the port cannot be bound.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const HttpOptions& options, HttpHandlers handlers);
  ~HttpServer();  // waits for running requests to end
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The port that was bound.
  int port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_SERVER_H_
