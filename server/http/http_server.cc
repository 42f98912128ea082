#include "server/http/http_server.h"

#include <civetweb.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace attend {

struct HttpServer::Impl {
  HttpHandlers handlers;
  mg_context* context = nullptr;
  std::string host;
  int port = 0;

  ~Impl() {
    if (context != nullptr) Stop();
  }
  void Stop();
};

namespace {

// How often the listening thread is called while it is to stop.
constexpr absl::Duration kKnock = absl::Milliseconds(5);

struct Reply {
  int code = 200;
  const char* reason = "OK";
  const char* type = "text/plain; charset=utf-8";
  std::string body;
};

int Send(mg_connection* connection, const Reply& reply) {
  const absl::string_view method =
      mg_get_request_info(connection)->request_method;
  if (method != "GET" && method != "HEAD") {
    mg_printf(connection,
              "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n"
              "Content-Length: 0\r\n\r\n");
    return 405;
  }
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\n\r\n",
            reply.code, reply.reason, reply.type, reply.body.size());
  if (method == "GET") {
    mg_write(connection, reply.body.data(), reply.body.size());
  }
  return reply.code;
}

Reply MakeReply(absl::string_view path, const HttpHandlers& handlers) {
  if (path == "/metrics") {
    return {.type = "text/plain; version=0.0.4; charset=utf-8",
            .body = handlers.metrics()};
  }
  if (path == "/livez" || (path == "/readyz" && handlers.ready())) {
    return {.body = "ok\n"};
  }
  if (path == "/readyz") {
    return {
        .code = 503, .reason = "Service Unavailable", .body = "not ready\n"};
  }
  return {.code = 404,
          .reason = "Not Found",
          .body = "not found; there are /metrics, /livez and /readyz\n"};
}

int Handle(mg_connection* connection, void* handlers) {
  return Send(connection,
              MakeReply(mg_get_request_info(connection)->local_uri,
                        *static_cast<const HttpHandlers*>(handlers)));
}

}  // namespace

// The listening thread sees that it is to stop every two seconds, or when
// somebody connects: so somebody does.
void HttpServer::Impl::Stop() {
  std::atomic<bool> stopped{false};
  std::thread stopper([&] {
    mg_stop(context);
    stopped = true;
  });
  while (!stopped) {
    char error[128];
    if (mg_connection* connection = mg_connect_client(
            host.c_str(), port, /*use_ssl=*/0, error, sizeof(error))) {
      mg_close_connection(connection);
    }
    absl::SleepFor(kKnock);
  }
  stopper.join();
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return impl_->port; }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const HttpOptions& options, HttpHandlers handlers) {
  auto impl = std::make_unique<Impl>();
  impl->handlers = std::move(handlers);
  impl->host = options.host;
  const std::string address = absl::StrCat(options.host, ":", options.port);
  const char* settings[] = {"listening_ports",
                            address.c_str(),
                            "num_threads",
                            "4",
                            "connection_queue",
                            "16",
                            "request_timeout_ms",
                            "5000",
                            "enable_keep_alive",
                            "no",
                            nullptr};
  const mg_callbacks callbacks = {};
  impl->context = mg_start(&callbacks, nullptr, settings);
  if (impl->context == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen for http on ", address));
  }
  mg_server_port bound = {};
  mg_get_server_ports(impl->context, 1, &bound);
  impl->port = bound.port;
  mg_set_request_handler(impl->context, "**", Handle, &impl->handlers);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace attend
