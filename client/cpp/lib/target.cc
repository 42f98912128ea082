#include "client/cpp/lib/target.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

struct HostPort {
  std::string host;  // without brackets
  std::string port;
};

// Its host is empty if the address is not HOST:PORT. Without brackets a host
// with colons is IPv6 without a port, for gRPC; one with a '/' is a URL.
HostPort Split(absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return {};
  absl::string_view host = address.substr(0, colon);
  const absl::string_view port = address.substr(colon + 1);
  uint32_t number = 0;
  if (!std::all_of(port.begin(), port.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(port, &number) || number == 0 || number > 65535) {
    return {};
  }
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  } else if (absl::StrContains(host, ':')) {
    return {};
  }
  if (absl::StrContains(host, '/')) return {};
  return {std::string(host), std::string(port)};
}

// Whether gRPC has a scheme of its own for the address.
bool HasScheme(absl::string_view address) {
  constexpr absl::string_view kSchemes[] = {
      "dns:", "unix:",       "unix-abstract:",          "vsock:",
      "xds:", "google-c2p:", "google-c2p-experimental:"};
  return std::any_of(
      std::begin(kSchemes), std::end(kSchemes), [&](absl::string_view scheme) {
        return absl::StartsWith(address, scheme) && address != scheme;
      });
}

// The numbers of a host: of IPv4, if it has some.
std::vector<std::string> Resolve(const std::string& host) {
  for (const int family : {AF_INET, AF_INET6}) {
    addrinfo hints = {};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) continue;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found,
                                                               freeaddrinfo);
    std::vector<std::string> numbers;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      char text[INET6_ADDRSTRLEN];
      const void* number =
          family == AF_INET
              ? static_cast<const void*>(
                    &reinterpret_cast<sockaddr_in*>(each->ai_addr)->sin_addr)
              : &reinterpret_cast<sockaddr_in6*>(each->ai_addr)->sin6_addr;
      if (inet_ntop(family, number, text, sizeof(text)) != nullptr) {
        numbers.emplace_back(text);
      }
    }
    return numbers;
  }
  return {};
}

bool IsIpv6(const std::string& address) {
  return absl::StartsWith(address, "[");
}

// An address of IPv4 as IPv6 has it.
std::string AsIpv6(const std::string& address) {
  if (IsIpv6(address)) return address;
  const HostPort number = Split(address);
  return absl::StrCat("[::ffff:", number.host, "]:", number.port);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitAddresses(
    const std::string& addresses) {
  std::vector<std::string> split;
  const absl::string_view all = absl::StripAsciiWhitespace(addresses);
  // gRPC's own lists of numbers.
  if (absl::StartsWith(all, "ipv4:") || absl::StartsWith(all, "ipv6:")) {
    return std::vector{std::string(all)};
  }
  for (const absl::string_view part : absl::StrSplit(addresses, ',')) {
    split.emplace_back(absl::StripAsciiWhitespace(part));
  }
  if (split.size() == 1 && HasScheme(split[0])) return split;
  for (const std::string& address : split) {
    if (Split(address).host.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("address '", address, "' must be HOST:PORT",
                       split.size() == 1 ? " or unix:PATH" : ""));
    }
  }
  return split;
}

std::vector<std::string> LookUp(const std::vector<std::string>& addresses) {
  std::vector<std::string> numbers;
  for (const std::string& address : addresses) {
    const HostPort name = Split(address);
    if (name.host.empty()) continue;
    for (const std::string& number : Resolve(name.host)) {
      const bool is_ipv6 = absl::StrContains(number, ':');
      numbers.push_back(absl::StrCat(is_ipv6 ? "[" : "", number,
                                     is_ipv6 ? "]:" : ":", name.port));
    }
  }
  return numbers;
}

std::string TargetOf(const std::vector<std::string>& addresses) {
  if (addresses.size() == 1) return addresses[0];
  std::vector<std::string> numbers = LookUp(addresses);
  if (numbers.empty()) return addresses[0];
  if (std::none_of(numbers.begin(), numbers.end(), IsIpv6)) {
    return absl::StrCat("ipv4:", absl::StrJoin(numbers, ","));
  }
  for (std::string& number : numbers) number = AsIpv6(number);
  return absl::StrCat("ipv6:", absl::StrJoin(numbers, ","));
}

}  // namespace attend
