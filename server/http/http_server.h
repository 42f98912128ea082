#ifndef ATTEND_SERVER_HTTP_HTTP_SERVER_H_
#define ATTEND_SERVER_HTTP_HTTP_SERVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/http/http_options.h"
#include "server/http/http_router.h"

namespace attend {

class Certificates;
class RequestBudget;

// The HTTP port: an event loop on a thread of its own. The thread never waits
// for a client. The HTTP port shares nothing with the gRPC port but the memory
// for requests.
class HttpServer {
 public:
  // `certificates` are needed if options.tls is set. `requests` has the bodies
  // of requests; null: a budget of their own, of the default size. Both must
  // outlive the server. UNAVAILABLE if the port cannot be bound.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const HttpOptions& options, HttpRouter router,
      const Certificates* certificates = nullptr,
      RequestBudget* requests = nullptr);
  // Closes all connections. No handler runs when it returns.
  ~HttpServer();
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
