#ifndef ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_
#define ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// Bytes of a request's head, from its first line to the empty one.
inline constexpr size_t kMaxHttpHeadBytes = 8192;

// Of the HTTP port, and of what its clients may cost.
struct HttpOptions {
  // Address or name that the HTTP port listens on; IPv6 with brackets or
  // without.
  std::string host = "0.0.0.0";
  // 0: any free one.
  int port = 9090;

  // Serve with the certificate of the server's TlsOptions. Clients are not
  // asked for one: probes have none. A connection then takes some 100 KB.
  bool tls = false;

  // Connections at once. At the limit, a new one takes the place of the one
  // that has waited longest for its client. Higher: more memory and file
  // descriptors for clients that do nothing.
  int max_connections = 2048;

  // From the first byte of a request's head to its last one, and from the
  // opening of a connection to its first byte; before that, for the handshake
  // of TLS. Higher: slow clients hold connections longer.
  absl::Duration head_timeout = absl::Seconds(5);
  // From an answer to the first byte of the next request. Higher: as above.
  absl::Duration idle_timeout = absl::Seconds(75);
  // For the client to read an answer. Higher: answers that nobody reads hold
  // memory longer.
  absl::Duration answer_timeout = absl::Seconds(10);

  absl::Status Validate() const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_
