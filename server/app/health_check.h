#ifndef ATTEND_SERVER_APP_HEALTH_CHECK_H_
#define ATTEND_SERVER_APP_HEALTH_CHECK_H_

#include "absl/status/status.h"
#include "server/http/http_options.h"

namespace attend {

// Asks a server with these options, on this machine, for `path` of its HTTP
// port: /readyz, whether it takes calls, or /livez, whether it is alive. For
// health checks of containers, whose images have no other program for that.
// `key`: that for health; empty: none. UNAVAILABLE names the address and the
// reason: nobody answers within 5 seconds, or not with a 200.
absl::Status CheckHealth(const HttpOptions& options, const char* path,
                         const char* key);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_HEALTH_CHECK_H_
