#include "server/http/http_listener.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// The pause after an error that may come again at once.
constexpr std::chrono::milliseconds kPause(100);

// The kernel's buffer for the answers of a connection. Without a limit the
// kernel would keep megabytes for a client that does not read.
constexpr int kSendBufferBytes = 64 << 10;

// The host without the brackets that an IPv6 address has in front of a port.
absl::string_view WithoutBrackets(absl::string_view host) {
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return host;
}

std::string WithPort(absl::string_view host, int port) {
  const bool brackets = absl::StrContains(host, ':');
  return absl::StrCat(brackets ? "[" : "", host, brackets ? "]" : "", ":",
                      port);
}

bool MeansNoDescriptor(const error_code& error) {
  return error == asio::error::no_descriptors ||
         error == boost::system::errc::too_many_files_open_in_system;
}

}  // namespace

HttpListener::HttpListener(asio::io_context& loop, HttpEnvironment& environment)
    : environment_(environment), acceptor_(loop), pause_(loop) {}

HttpListener::~HttpListener() {
  if (spare_ >= 0) close(spare_);
}

absl::Status HttpListener::Listen() {
  const HttpOptions& options = environment_.options;
  const absl::string_view host = WithoutBrackets(options.host);
  error_code error;
  if (options.inherited_socket >= 0) {
    Adopt(options.inherited_socket, error);
  } else {
    Bind(std::string(host), options.port, error);
  }
  if (!error) acceptor_.non_blocking(true, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen for http on ", WithPort(host, options.port),
                     ": ", absl::AsciiStrToLower(error.message())));
  }
  KeepSpare();
  WaitForConnection();
  return absl::OkStatus();
}

void HttpListener::Bind(const std::string& host, int port, error_code& error) {
  Tcp::resolver resolver(acceptor_.get_executor());
  const auto addresses =
      resolver.resolve(host, absl::StrCat(port),
                       asio::ip::resolver_base::passive |
                           asio::ip::resolver_base::numeric_service,
                       error);
  if (error) return;
  const Tcp::endpoint address = addresses.begin()->endpoint();
  acceptor_.open(address.protocol(), error);
  if (error) return;
  acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  if (error) return;
  SetForConnections(error);
  if (error) return;
  acceptor_.bind(address, error);
  if (error) return;
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
}

void HttpListener::Adopt(int socket, error_code& error) {
  // Of either family: addresses are read from the sockets, family included.
  acceptor_.assign(Tcp::v6(), socket, error);
  if (!error) SetForConnections(error);
}

// Connections inherit the options.
void HttpListener::SetForConnections(error_code& error) {
  acceptor_.set_option(Tcp::no_delay(true), error);
  if (error) return;
  acceptor_.set_option(asio::socket_base::send_buffer_size(kSendBufferBytes),
                       error);
}

int HttpListener::port() const {
  error_code ignored;
  return acceptor_.local_endpoint(ignored).port();
}

// Waits for a connection before accepting it: without a free descriptor, Linux
// refuses to accept, whether there is a connection or not.
void HttpListener::WaitForConnection() {
  acceptor_.async_wait(Tcp::acceptor::wait_read, [this](error_code error) {
    waits_ = false;
    Accept(error);
  });
  waits_ = true;
}

void HttpListener::KeepWaiting() {
  if (!waits_) WaitForConnection();
}

void HttpListener::Accept(error_code error) {
  Tcp::socket socket(acceptor_.get_executor());
  if (!error) acceptor_.accept(socket, error);
  if (!error) {
    // Those that waited for a server have not inherited it.
    error_code ignored;
    socket.set_option(asio::socket_base::send_buffer_size(kSendBufferBytes),
                      ignored);
    // Without memory for it, it is closed.
    CatchOutOfMemory([&] {
      StartSession(std::move(socket), environment_);
      return absl::OkStatus();
    }).IgnoreError();
    KeepSpare();
  }
  const bool again = !error || error == asio::error::would_block ||
                     (MeansNoDescriptor(error) && FreeDescriptor());
  if (again) return WaitForConnection();
  pause_.expires_after(kPause);
  pause_.async_wait([this](error_code) {
    waits_ = false;
    WaitForConnection();
  });
  waits_ = true;
}

bool HttpListener::FreeDescriptor() {
  if (environment_.connections.CloseOldest()) return true;
  if (spare_ < 0) return false;
  close(std::exchange(spare_, -1));
  return true;
}

// Fails while there is no descriptor; then the next connection tries again.
void HttpListener::KeepSpare() {
  if (spare_ < 0) spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace attend
