#include "server/http/http_listener.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/ip/v6_only.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

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

// How often a free port is looked for that all addresses have.
constexpr int kMaxTries = 8;

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

// The machine has no such address, or does not know the family.
bool IsAbsent(const error_code& error) {
  return error == boost::system::errc::address_not_available ||
         error == boost::system::errc::address_family_not_supported;
}

// Connections inherit the options.
void SetForConnections(asio::ip::tcp::acceptor& acceptor, error_code& error) {
  acceptor.set_option(asio::ip::tcp::acceptor::reuse_address(true), error);
  if (error) return;
  acceptor.set_option(asio::ip::tcp::no_delay(true), error);
  if (error) return;
  acceptor.set_option(asio::socket_base::send_buffer_size(kSendBufferBytes),
                      error);
}

void ListenAt(const asio::ip::tcp::endpoint& address, bool both_families,
              asio::ip::tcp::acceptor& acceptor, error_code& error) {
  acceptor.open(address.protocol(), error);
  if (error) return;
  SetForConnections(acceptor, error);
  if (error) return;
  if (address.address().is_v6()) {
    acceptor.set_option(asio::ip::v6_only(!both_families), error);
    if (error) return;
  }
  acceptor.bind(address, error);
  if (error) return;
  acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return;
  acceptor.non_blocking(true, error);
}

bool MeansNoDescriptor(const error_code& error) {
  return error == asio::error::no_descriptors ||
         error == boost::system::errc::too_many_files_open_in_system;
}

}  // namespace

HttpListener::HttpListener(asio::io_context& loop, HttpEnvironment& environment)
    : loop_(loop), environment_(environment) {}

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
    Bind(std::string(host), error);
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen for http on ", WithPort(host, options.port),
                     ": ", absl::AsciiStrToLower(error.message())));
  }
  KeepSpare();
  KeepWaiting();
  return absl::OkStatus();
}

void HttpListener::Bind(const std::string& host, error_code& error) {
  const bool all = host == "0.0.0.0" || host == "::";
  // A socket of :: takes both families; without IPv6, 0.0.0.0 is left.
  for (const std::string& name :
       all ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector{host}) {
    Tcp::resolver resolver(loop_);
    const auto addresses =
        resolver.resolve(name, "0",
                         asio::ip::resolver_base::passive |
                             asio::ip::resolver_base::numeric_service,
                         error);
    if (error) return;
    BindEach(addresses, all, error);
    // Somebody else may have the port that the first address has got.
    for (int i = 0; i < kMaxTries && environment_.options.port == 0 &&
                    error == asio::error::address_in_use;
         ++i) {
      BindEach(addresses, all, error);
    }
    if (!IsAbsent(error)) return;
  }
}

void HttpListener::BindEach(const Tcp::resolver::results_type& addresses,
                            bool both_families, error_code& error) {
  doors_.clear();
  for (const auto& entry : addresses) {
    Tcp::endpoint address = entry.endpoint();
    address.port(doors_.empty() ? environment_.options.port : port());
    ListenAt(address, both_families, doors_.emplace_back(loop_).acceptor,
             error);
    if (!error) continue;
    doors_.pop_back();
    if (!IsAbsent(error)) return;
  }
  if (!doors_.empty()) error = {};
}

void HttpListener::Adopt(int socket, error_code& error) {
  Tcp::acceptor& acceptor = doors_.emplace_back(loop_).acceptor;
  // Of either family: addresses are read from the sockets, family included.
  acceptor.assign(Tcp::v6(), socket, error);
  if (error) return;
  SetForConnections(acceptor, error);
  if (error) return;
  acceptor.non_blocking(true, error);
}

int HttpListener::port() const {
  error_code ignored;
  return doors_.front().acceptor.local_endpoint(ignored).port();
}

// Waits for a connection before accepting it: without a free descriptor, Linux
// refuses to accept, whether there is a connection or not.
void HttpListener::WaitForConnection(Door& door) {
  door.acceptor.async_wait(Tcp::acceptor::wait_read,
                           [this, &door](error_code error) {
                             door.waits = false;
                             Accept(door, error);
                           });
  door.waits = true;
}

void HttpListener::KeepWaiting() {
  for (Door& door : doors_) {
    if (!door.waits) WaitForConnection(door);
  }
}

void HttpListener::Accept(Door& door, error_code error) {
  Tcp::socket socket(loop_);
  if (!error) door.acceptor.accept(socket, error);
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
  if (again) return WaitForConnection(door);
  door.pause.expires_after(kPause);
  door.pause.async_wait([this, &door](error_code) {
    door.waits = false;
    WaitForConnection(door);
  });
  door.waits = true;
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
