#include "server/app/reserved_ports.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using ResolvedAddresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::StatusOr<ResolvedAddresses> ResolveHost(const std::string& name,
                                              int port) {
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(name.c_str(), absl::StrCat(port).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  return ResolvedAddresses(found, &freeaddrinfo);
}

bool SetFlag(int socket, int level, int option, bool on) {
  const int value = on ? 1 : 0;
  return setsockopt(socket, level, option, &value, sizeof(value)) == 0;
}

// Without SO_REUSEADDR, nobody else can bind the port until the socket is
// closed. But connections of an earlier server, which are in TIME_WAIT for a
// minute, keep the port, too; then SO_REUSEADDR still finds a server that
// listens, and one that reserves the port. Not ok: errno has the reason.
Descriptor Bind(const addrinfo& address, bool both_families) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int number = socket.get();
  if (!socket.ok() ||
      (address.ai_family == AF_INET6 &&
       !SetFlag(number, IPPROTO_IPV6, IPV6_V6ONLY, !both_families))) {
    return Descriptor();
  }
  if (bind(number, address.ai_addr, address.ai_addrlen) == 0) return socket;
  if (errno == EADDRINUSE && SetFlag(number, SOL_SOCKET, SO_REUSEADDR, true) &&
      bind(number, address.ai_addr, address.ai_addrlen) == 0) {
    SetFlag(number, SOL_SOCKET, SO_REUSEADDR, false);
    return socket;
  }
  return Descriptor();
}

// This machine lacks the address, or its family.
bool IsMissing(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

// Binds each address that this machine has. Returns 0, or the errno of the
// failure.
int BindEach(const addrinfo* addresses, bool both_families,
             std::vector<Descriptor>& sockets) {
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = addresses; at != nullptr; at = at->ai_next) {
    Descriptor socket = Bind(*at, both_families);
    if (socket.ok()) {
      error = 0;
      sockets.push_back(std::move(socket));
    } else if (!IsMissing(errno)) {
      return errno;
    }
  }
  return error;
}

}  // namespace

absl::Status ReservedPorts::Reserve(const std::string& host, int port) {
  const std::string name(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
  const bool all = name == "0.0.0.0" || name == "::";
  std::string reason;
  // A socket of :: takes both families; without IPv6, 0.0.0.0 remains.
  for (const std::string& each :
       all ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector{name}) {
    const auto addresses = ResolveHost(each, port);
    if (!addresses.ok()) {
      reason = std::string(addresses.status().message());
      continue;
    }
    const int error = BindEach(addresses->get(), all, sockets_);
    if (error == 0) return absl::OkStatus();
    reason = std::strerror(error);
    if (!IsMissing(error)) break;
  }
  const bool brackets = absl::StrContains(name, ':');
  return absl::UnavailableError(absl::StrCat(
      "cannot listen on ", brackets ? "[" : "", name, brackets ? "]" : "", ":",
      port, ": ", absl::AsciiStrToLower(reason)));
}

absl::Status ReservedPorts::Reserve(const RpcOptions& rpc,
                                    const HttpOptions& http) {
  if (rpc.port != 0 && rpc.inherited_sockets.empty()) {
    RETURN_IF_ERROR(Reserve(rpc.host, rpc.port));
  }
  if (http.port != 0 && http.inherited_socket < 0) {
    RETURN_IF_ERROR(Reserve(http.host, http.port));
  }
  return absl::OkStatus();
}

}  // namespace attend
