#include "server/http/http_server.h"

#include <civetweb.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {

struct HttpServer::Impl {
  HttpHandlers handlers;
  mg_context* context = nullptr;
  int port = 0;

  ~Impl() {
    if (context != nullptr) mg_stop(context);
  }
};

namespace {

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

HttpHandlers& Handlers(void* impl) {
  return static_cast<HttpHandlers*>(impl)[0];
}

int Metrics(mg_connection* connection, void* handlers) {
  return Send(connection, {.type = "text/plain; version=0.0.4; charset=utf-8",
                           .body = Handlers(handlers).metrics()});
}

int Live(mg_connection* connection, void*) {
  return Send(connection, {.body = "ok\n"});
}

int Ready(mg_connection* connection, void* handlers) {
  if (Handlers(handlers).ready()) return Send(connection, {.body = "ok\n"});
  return Send(
      connection,
      {.code = 503, .reason = "Service Unavailable", .body = "not ready\n"});
}

int NotFound(mg_connection* connection, void*) {
  return Send(connection,
              {.code = 404,
               .reason = "Not Found",
               .body = "not found; there are /metrics, /livez and /readyz\n"});
}

}  // namespace

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return impl_->port; }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const HttpOptions& options, HttpHandlers handlers) {
  auto impl = std::make_unique<Impl>();
  impl->handlers = std::move(handlers);
  const std::string address = absl::StrCat(options.host, ":", options.port);
  const char* settings[] = {"listening_ports",
                            address.c_str(),
                            "num_threads",
                            "2",
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
  // The longest pattern that matches is taken.
  mg_set_request_handler(impl->context, "/", NotFound, nullptr);
  mg_set_request_handler(impl->context, "/livez$", Live, nullptr);
  mg_set_request_handler(impl->context, "/metrics$", Metrics, &impl->handlers);
  mg_set_request_handler(impl->context, "/readyz$", Ready, &impl->handlers);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace attend
