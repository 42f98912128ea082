#include "server/http/http_options.h"

#include "absl/strings/str_cat.h"
#include "server/http/allowed_hosts.h"
#include "server/http/cors.h"

namespace attend {

absl::Status HttpOptions::Validate() const {
  if (port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("http_port is ", port, ", must be in [0, 65535]"));
  }
  if (max_connections < 1 || max_connections > 1000000) {
    return absl::InvalidArgumentError(
        absl::StrCat("http_max_connections is ", max_connections,
                     ", must be in [1, 1000000]"));
  }
  if (idle_timeout <= absl::ZeroDuration() || idle_timeout > absl::Hours(24)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "http_idle_timeout is ", absl::FormatDuration(idle_timeout),
        ", must be above 0 and at most 24h"));
  }
  if (stream_keepalive != absl::ZeroDuration() &&
      (stream_keepalive < absl::Milliseconds(10) ||
       stream_keepalive > absl::Hours(24))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "http_stream_keepalive is ", absl::FormatDuration(stream_keepalive),
        ", must be 0 or in [10ms, 24h]"));
  }
  absl::Status hosts = CheckAllowedHosts(allowed_hosts);
  return hosts.ok() ? CheckCorsOrigins(cors_origins) : hosts;
}

}  // namespace attend
