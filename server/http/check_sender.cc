#include "server/http/check_sender.h"

#include <optional>

#include "server/http/authority.h"
#include "server/http/cross_site.h"

namespace attend {

HeadRefusal CheckSender(const HttpRequest& request,
                        const HttpEnvironment& environment, bool checks_host) {
  const std::optional<Authority> authority = ParseAuthority(request.authority);
  if (checks_host && authority && !environment.hosts.Allow(authority->host)) {
    return {421,
            "the host of the request is no name of this server, see "
            "--http-allowed-host"};
  }
  if (IsForgeable(request, environment.options.cors_origins)) {
    return {403,
            "a request of another site needs Content-Type "
            "application/json, or a key, or --http-cors-origins"};
  }
  return {};
}

}  // namespace attend
