#ifndef ATTEND_CLIENT_CPP_TOP_HTTP_GET_H_
#define ATTEND_CLIENT_CPP_TOP_HTTP_GET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace attend {

struct HttpGetOptions {
  // http or https, then the host, the port if it is not 80 or 443, and a path.
  std::string url;
  std::string ca = "";  // for https: a PEM file; empty: the system's CAs
  std::string token =
      "";  // sent as "Authorization: Bearer TOKEN", if not empty
  absl::Duration timeout = absl::Seconds(10);  // of the whole request
};

// The body of the answer, at most 64 MiB. INVALID_ARGUMENT: the URL or the CA
// file is wrong. UNAVAILABLE: no answer, or its certificate is not trusted.
// UNAUTHENTICATED: the server wants another token. Otherwise an answer that is
// not 200 is UNKNOWN, with its status.
absl::StatusOr<std::string> HttpGetBody(const HttpGetOptions& options);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_TOP_HTTP_GET_H_
