#include "server/http/request_target.h"

#include "absl/strings/match.h"
#include "server/http/authority.h"

namespace attend {
namespace {

constexpr absl::string_view kWholeServer = "*";

// A proxy in front may have ended TLS, so both schemes mean this server.
bool ConsumeScheme(absl::string_view& target) {
  for (const absl::string_view scheme : {"http://", "https://"}) {
    if (!absl::StartsWithIgnoreCase(target, scheme)) continue;
    target.remove_prefix(scheme.size());
    return true;
  }
  return false;
}

bool NamesHost(absl::string_view text) {
  const std::optional<Authority> authority = ParseAuthority(text);
  return authority.has_value() && !authority->host.empty();
}

}  // namespace

std::optional<RequestTarget> ParseTarget(absl::string_view method,
                                         absl::string_view target) {
  const bool options = method == "OPTIONS";
  if (target.find('#') != target.npos) return std::nullopt;
  if (target == kWholeServer) {
    if (!options) return std::nullopt;
    return RequestTarget{.path = target};
  }
  RequestTarget parsed;
  if (!absl::StartsWith(target, "/")) {
    if (!ConsumeScheme(target)) return std::nullopt;
    parsed.authority = target.substr(0, target.find_first_of("/?"));
    if (!NamesHost(parsed.authority)) return std::nullopt;
    target.remove_prefix(parsed.authority.size());
  }
  const size_t query = target.find('?');
  parsed.path = target.substr(0, query);
  if (query != target.npos) parsed.query = target.substr(query + 1);
  if (parsed.path.empty()) {
    // RFC 9112, 3.2.4: an OPTIONS of a URI without path and query.
    parsed.path = options && target.empty() ? kWholeServer : "/";
  }
  return parsed;
}

}  // namespace attend
