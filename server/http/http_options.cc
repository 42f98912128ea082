#include "server/http/http_options.h"

#include "absl/strings/str_cat.h"
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
  return CheckCorsOrigins(cors_origins);
}

}  // namespace attend
