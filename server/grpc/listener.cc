#include "server/grpc/listener.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status Failure(const std::string& host, int port,
                     absl::string_view reason) {
  const bool bare = absl::StrContains(host, ":") && host.front() != '[';
  const std::string name = bare ? absl::StrCat("[", host, "]") : host;
  return absl::UnavailableError(absl::StrCat("cannot listen on ", name, ":",
                                             port, ": ",
                                             absl::AsciiStrToLower(reason)));
}

bool Set(int socket, int level, int option, int value) {
  return setsockopt(socket, level, option, &value, sizeof(value)) == 0;
}

// Where a socket that listens is reached from this machine.
sockaddr_storage ReachableAddress(int listening) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size);
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  if (address.ss_family == AF_INET && v4.sin_addr.s_addr == htonl(INADDR_ANY)) {
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  if (address.ss_family != AF_INET6 ||
      !IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr)) {
    return address;
  }
  int v6_only = 0;
  socklen_t length = sizeof(v6_only);
  getsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, &length);
  if (v6_only != 0) {
    v6.sin6_addr = in6addr_loopback;
  } else {
    // All addresses, of both families; ::1 need not be there.
    v4.sin_port = v6.sin6_port;
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  return address;
}

// Accepted sockets inherit these options.
bool SetForConnections(int socket, absl::Duration user_timeout) {
  return Set(socket, IPPROTO_TCP, TCP_NODELAY, 1) &&
         Set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
             absl::ToInt64Milliseconds(
                 std::min(user_timeout, absl::Hours(24))));
}

// Without: errno says why. A second server on the same port is a mistake: no
// SO_REUSEPORT.
Descriptor ListenOn(const addrinfo& address, bool both_families,
                    absl::Duration user_timeout) {
  Descriptor socket(::socket(address.ai_family,
                             SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int number = socket.get();
  if (!socket.ok() || !Set(number, SOL_SOCKET, SO_REUSEADDR, 1) ||
      !SetForConnections(number, user_timeout) ||
      (address.ai_family == AF_INET6 &&
       !Set(number, IPPROTO_IPV6, IPV6_V6ONLY, both_families ? 0 : 1)) ||
      bind(number, address.ai_addr, address.ai_addrlen) != 0 ||
      listen(number, SOMAXCONN) != 0) {
    return Descriptor();
  }
  return socket;
}

void SetPort(addrinfo& address, int port) {
  if (address.ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address.ai_addr)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(address.ai_addr)->sin_port = htons(port);
  }
}

absl::StatusOr<AddressList> Resolve(const std::string& name) {
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name.c_str(), "0", &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  return AddressList(found, &freeaddrinfo);
}

// The machine has no such address, or knows nothing of its family.
bool IsAbsent(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

}  // namespace

int PortOf(int socket) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return 0;
  }
  return ntohs(bound.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                   : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

absl::StatusOr<Listener> Listen(const std::string& host, int port,
                                absl::Duration user_timeout) {
  const std::string name(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
  const bool all = name == "0.0.0.0" || name == "::";
  Listener listener{.sockets = {}, .port = port, .address = {}};
  int error = 0;
  // A socket of :: takes both families; without IPv6, 0.0.0.0 is left.
  for (const std::string& each :
       all ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector{name}) {
    const absl::StatusOr<AddressList> addresses = Resolve(each);
    if (!addresses.ok()) {
      return Failure(host, port, addresses.status().message());
    }
    for (addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
      SetPort(*at, listener.port);
      Descriptor socket = ListenOn(*at, all, user_timeout);
      if (!socket.ok()) {
        error = errno;
        if (IsAbsent(error)) continue;
        return Failure(host, port, std::strerror(error));
      }
      listener.port = PortOf(socket.get());
      listener.sockets.push_back(std::move(socket));
    }
    if (listener.sockets.empty()) continue;
    listener.address = ReachableAddress(listener.sockets.front().get());
    return listener;
  }
  return Failure(host, port, std::strerror(error));
}

absl::StatusOr<Listener> Adopt(const std::vector<int>& sockets,
                               absl::Duration user_timeout) {
  Listener listener;
  for (const int number : sockets) {
    Descriptor& socket = listener.sockets.emplace_back(number);
    if (fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0 ||
        !SetForConnections(socket.get(), user_timeout)) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on descriptor ", number, ": ",
                       absl::AsciiStrToLower(std::strerror(errno))));
    }
  }
  listener.port = PortOf(sockets.front());
  listener.address = ReachableAddress(sockets.front());
  return listener;
}

}  // namespace attend
