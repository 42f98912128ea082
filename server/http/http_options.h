#ifndef ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_
#define ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace attend {

// The most bytes of a request's head: from its first line to the empty line.
inline constexpr size_t kMaxHttpHeadBytes = 8192;

// Options of the HTTP port, and limits of what its clients may cost.
struct HttpOptions {
  // Address or name that the HTTP port listens on; IPv6 with brackets or
  // without.
  std::string host = "0.0.0.0";
  // 0: any free port.
  int port = 9090;

  // Serve with the certificate of the server's TlsOptions. Clients are not
  // asked for certificates, because probes have none. A connection with TLS
  // takes about 100 KB.
  bool tls = false;

  // The most connections at once. At the limit, a new connection replaces the
  // connection that has waited longest for its client. Higher: more memory and
  // file descriptors for clients that do nothing.
  int max_connections = 2048;

  // Limits three times: that of the TLS handshake; that from the opening of a
  // connection (or the handshake) to the first byte of a request; and that from
  // the first byte of a request's head to the last. Higher: slow clients hold
  // connections longer.
  absl::Duration head_timeout = absl::Seconds(5);
  // The time from an answer to the first byte of the next request. Higher: idle
  // clients hold connections longer.
  absl::Duration idle_timeout = absl::Seconds(75);
  // The time that a client may take to read an answer. Higher: answers that
  // nobody reads hold memory longer.
  absl::Duration answer_timeout = absl::Seconds(10);

  absl::Status Validate() const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_
