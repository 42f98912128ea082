#include "server/http/authority.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

// Characters of a registered name, with the percent sign of its octets.
bool IsOfHostName(char c) {
  constexpr absl::string_view kOther = "-._~!$&'()*+,;=%";
  return absl::ascii_isalnum(c) || kOther.find(c) != kOther.npos;
}

// Every percent sign begins an octet.
bool HasWholeOctets(absl::string_view name) {
  for (size_t at = name.find('%'); at != name.npos;
       at = name.find('%', at + 1)) {
    if (at + 2 >= name.size() || !absl::ascii_isxdigit(name[at + 1]) ||
        !absl::ascii_isxdigit(name[at + 2])) {
      return false;
    }
  }
  return true;
}

// Takes the address in brackets from the front of `text`.
std::optional<std::string> TakeIpv6(absl::string_view& text) {
  const size_t end = text.find(']');
  if (end == text.npos) return std::nullopt;
  absl::string_view address = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  // Clients should not send a zone (RFC 6874, 3), but some do.
  address = address.substr(0, address.find('%'));
  const std::string host = absl::AsciiStrToLower(address);
  in6_addr parsed;
  if (inet_pton(AF_INET6, host.c_str(), &parsed) != 1) return std::nullopt;
  return host;
}

}  // namespace

std::optional<Authority> ParseAuthority(absl::string_view text) {
  Authority parsed;
  if (!text.empty() && text.front() == '[') {
    std::optional<std::string> address = TakeIpv6(text);
    if (!address) return std::nullopt;
    parsed.host = *std::move(address);
  } else {
    absl::string_view name = text.substr(0, text.find(':'));
    text.remove_prefix(name.size());
    if (!std::all_of(name.begin(), name.end(), IsOfHostName) ||
        !HasWholeOctets(name)) {
      return std::nullopt;
    }
    absl::ConsumeSuffix(&name, ".");
    parsed.host = absl::AsciiStrToLower(name);
  }
  if (text.empty()) return parsed;
  if (!absl::ConsumePrefix(&text, ":") ||
      !std::all_of(text.begin(), text.end(), absl::ascii_isdigit)) {
    return std::nullopt;
  }
  parsed.port = text;
  return parsed;
}

}  // namespace attend
