#include "server/http/http_server.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <climits>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "server/budget/request_budget.h"
#include "server/http/http_environment.h"
#include "server/http/http_listener.h"
#include "server/http/http_session.h"

namespace attend {
namespace {

// At most a quarter of the process's descriptors: clients of the models need
// the others.
int MaxConnections(int wanted) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  return static_cast<int>(std::clamp<rlim_t>(limit.rlim_cur / 4, 1, wanted));
}

// Empty: it has none.
std::string MachineName() {
  char name[HOST_NAME_MAX + 1] = "";
  if (gethostname(name, sizeof(name) - 1) != 0) return "";
  return name;
}

// What is beyond the edges of connections: the loop goes on.
void RunLoop(boost::asio::io_context& loop, HttpListener& listener) {
  const auto run = [&] {
    listener.KeepWaiting();
    loop.run();
    return absl::OkStatus();
  };
  while (!CatchOutOfMemory(run).ok()) {
  }
}

}  // namespace

struct HttpServer::Impl {
  Impl(const HttpOptions& options, HttpRouter router,
       const Certificates* certificates, RequestBudget* requests)
      : environment{options,
                    std::move(router),
                    certificates,
                    Connections(MaxConnections(options.max_connections)),
                    requests == nullptr ? own_requests : *requests,
                    AllowedHosts(options.allowed_hosts,
                                 {options.host, MachineName()})} {}
  ~Impl() {
    loop.stop();
    if (thread.joinable()) thread.join();
    environment.connections.CloseAll();
  }

  boost::asio::io_context loop{1};  // first: what is below uses it to the end
  // The loop does not end where a lack of memory leaves it nothing to wait for.
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
      work{loop.get_executor()};
  RequestBudget own_requests{kMaxRequestBytes};
  HttpEnvironment environment;
  HttpListener listener{loop, environment};
  std::thread thread;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return impl_->listener.port(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const HttpOptions& options, HttpRouter router,
    const Certificates* certificates, RequestBudget* requests) try {
  RETURN_IF_ERROR(options.Validate());
  ATTEND_CHECK(!options.tls || certificates != nullptr);
  auto impl =
      std::make_unique<Impl>(options, std::move(router),
                             options.tls ? certificates : nullptr, requests);
  RETURN_IF_ERROR(impl->listener.Listen());
  impl->thread =
      std::thread([impl = impl.get()] { RunLoop(impl->loop, impl->listener); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
} catch (const boost::system::system_error& error) {
  // Asio throws if there is no descriptor for the loop.
  return absl::UnavailableError(
      absl::StrCat("cannot start the http loop: ", error.what()));
}

}  // namespace attend
