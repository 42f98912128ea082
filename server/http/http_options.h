#ifndef ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_
#define ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
  int port = 8080;
  // A socket that listens on the port already, in place of `host`, or -1. The
  // server that is started with it takes it over.
  int inherited_socket = -1;

  // Serve with the certificate of the server's TlsOptions, and ask clients for
  // theirs if there are CAs for them. A client without one is let in, because
  // probes have none; HttpCalls may refuse its calls. A connection with TLS
  // takes about 100 KB.
  bool tls = false;

  // The most connections at once. At the limit, a new connection replaces the
  // connection that has waited longest for its client. At most seven eighths
  // may be calls that run. Higher: more memory and file descriptors for clients
  // that do nothing.
  int max_connections = 2048;
  // The web pages whose scripts may read the answers: their origins, or "*" for
  // all. Empty: no page of another origin.
  std::vector<std::string> cors_origins = {};

  // Hosts that requests may be for, in addition to those that AllowedHosts
  // allows: names, addresses, "*.example.com", or "*" for all. If there are
  // any, they hold for all requests. Otherwise requests are checked if a
  // browser on this machine may have sent them and nothing else protects the
  // server.
  std::vector<std::string> allowed_hosts = {};
  // Calls need a key.
  bool needs_keys = false;

  // The most bytes of a request's body. Higher: more memory for clients that
  // send slowly.
  int64_t max_body_bytes = 16 << 20;

  // Limits four times: that of the TLS handshake; that from the opening of a
  // connection (or the handshake) to the first byte of a request; that from the
  // first byte of a request's head to the last; and that of each kPaceBytes of
  // a body. Higher: slow clients hold connections longer.
  absl::Duration head_timeout = absl::Seconds(5);
  // The time from an answer to the first byte of the next request. Higher: idle
  // clients hold connections longer.
  absl::Duration idle_timeout = absl::Seconds(75);
  // A stream that has had nothing to send for this long sends something without
  // a meaning, where its protocol has that. Zero: never. Higher: proxies that
  // cut silent connections cut streams whose first token takes long.
  absl::Duration stream_keepalive = absl::Seconds(15);
  // The time that a client may take to read kPaceBytes of an answer. Higher:
  // answers that nobody reads hold memory longer.
  absl::Duration answer_timeout = absl::Seconds(10);

  absl::Status Validate() const;
};

// Of a body, and of an answer, so many bytes have a time limit of their own.
// Large ones may take longer, but not as long as a client likes.
inline constexpr size_t kPaceBytes = 16 << 10;

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_OPTIONS_H_
