#include "server/http/allowed_hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/http/authority.h"

namespace attend {
namespace {

constexpr absl::string_view kPrivateSuffixes[] = {
    ".localhost", ".local", ".internal", ".home.arpa", ".svc"};

// Addresses of IPv6 may be written without brackets here.
std::optional<std::string> ParseHost(absl::string_view text) {
  const bool bare = std::count(text.begin(), text.end(), ':') > 1 &&
                    !absl::StartsWith(text, "[");
  const std::string host =
      bare ? absl::StrCat("[", text, "]") : std::string(text);
  const std::optional<Authority> parsed = ParseAuthority(host);
  if (!parsed || parsed->host.empty() || absl::EndsWith(host, ":") ||
      !parsed->port.empty()) {
    return std::nullopt;
  }
  return parsed->host;
}

bool IsAddress(const std::string& host) {
  in6_addr parsed;
  return inet_pton(AF_INET, host.c_str(), &parsed) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

bool IsPrivateName(absl::string_view host) {
  if (!absl::StrContains(host, '.')) return true;
  return std::any_of(std::begin(kPrivateSuffixes), std::end(kPrivateSuffixes),
                     [host](absl::string_view suffix) {
                       return absl::EndsWith(host, suffix);
                     });
}

// "*.example.com" stands for all names below it, and not for itself.
bool Matches(absl::string_view host, absl::string_view pattern) {
  if (!absl::ConsumePrefix(&pattern, "*")) return host == pattern;
  return host.size() > pattern.size() && absl::EndsWith(host, pattern);
}

}  // namespace

absl::Status CheckAllowedHosts(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    absl::string_view name = host;
    if (name == "*") continue;
    absl::ConsumePrefix(&name, "*.");
    if (name.find_first_of("*,") == name.npos && ParseHost(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "http_allowed_host has '", host,
        "', must be *, or such as api.example, *.example or 10.0.0.1, without "
        "a port"));
  }
  return absl::OkStatus();
}

AllowedHosts::AllowedHosts(const std::vector<std::string>& hosts,
                           const std::vector<std::string>& own_names)
    : all_(std::find(hosts.begin(), hosts.end(), "*") != hosts.end()) {
  for (const std::string& host : hosts) {
    absl::string_view name = host;
    const bool below = name != "*" && absl::ConsumePrefix(&name, "*");
    if (below) absl::ConsumePrefix(&name, ".");
    const std::optional<std::string> parsed = ParseHost(name);
    if (parsed) hosts_.push_back(absl::StrCat(below ? "*." : "", *parsed));
  }
  restricts_ = !hosts.empty() && !all_;
  for (const std::string& name : own_names) {
    if (const auto parsed = ParseHost(name)) hosts_.push_back(*parsed);
  }
}

bool AllowedHosts::Allow(absl::string_view host) const {
  if (all_ || IsAddress(std::string(host)) || IsPrivateName(host)) return true;
  return std::any_of(
      hosts_.begin(), hosts_.end(),
      [host](const std::string& pattern) { return Matches(host, pattern); });
}

}  // namespace attend
