#ifndef ATTEND_CLIENT_CPP_LIB_CLIENT_OPTIONS_H_
#define ATTEND_CLIENT_CPP_LIB_CLIENT_OPTIONS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/lib/cancellation.h"
#include "client/cpp/lib/client_tls.h"
#include "client/cpp/lib/retry.h"

namespace attend {

// Keys and values.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// Options of a client.
struct ClientOptions {
  // HOST:PORT, or several of them, separated by commas; names in a list are
  // resolved once. A single name may resolve to several servers, and is
  // resolved again when one is lost. Calls go to the servers in turn. A single
  // address may also be unix:PATH.
  std::string address = "localhost:50051";
  // Calls go only to servers whose grpc.health.v1 reports serving; those of
  // attend.v1.Admin to all. Set to false with a proxy that balances calls,
  // because the health of one server would be taken for that of all.
  bool health_checks = true;
  // nullopt: no TLS.
  std::optional<ClientTls> tls = std::nullopt;
  // Sent with each call, as "authorization: Bearer TOKEN". Empty: no token is
  // sent. Without TLS the token travels as plain text.
  std::string token = "";
  // Model of requests that name none. Empty: the server's default model.
  std::string model = "";
  // Deadline of each call, including retries and the pauses before them.
  // absl::InfiniteDuration(): no deadline.
  absl::Duration timeout = absl::Seconds(60);
  RetryPolicy retry = {};
  // An interrupted stream is retried, too, by the rules of `retry`, and
  // resumes where it ended. If its text then differs, it ends with
  // UNAVAILABLE.
  bool resume = true;
  // Hedging: unary calls without an answer after this time are sent again,
  // in most cases to another server; the first answer counts. Set it well above
  // the usual latency. Limited to a third of the calls, and ten at once.
  absl::Duration hedge_after = absl::InfiniteDuration();
  // Affinity: calls whose first input begins with the same `affinity` bytes go
  // to one server while it serves, whose cache has their prefix. Names are
  // resolved again while a server is lost. 0: calls go to servers in turn.
  size_t affinity = 0;
  // Metadata of each call, for instance {"x-request-id", "42"}.
  Metadata metadata = {};
  // Replaces the pause before a retry in tests.
  std::function<void(absl::Duration)> sleep = nullptr;
};

// Options of a single call.
struct CallOptions {
  // As in ClientOptions, which has the default.
  std::optional<absl::Duration> timeout = std::nullopt;
  // Sent in addition to that of the client.
  Metadata metadata = {};
  // Lets another thread cancel the call, also in a pause before a retry: it
  // returns CANCELLED. May be null, and must outlive the call.
  Cancellation* cancellation = nullptr;
};

// Returns options from the variables that the command `attend` also reads:
// ATTEND_ADDRESS, ATTEND_TOKEN, ATTEND_TLS, ATTEND_CA, ATTEND_CERT, ATTEND_KEY
// and ATTEND_SERVER_NAME. INVALID_ARGUMENT names the invalid one.
absl::StatusOr<ClientOptions> OptionsFromEnvironment();

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CLIENT_OPTIONS_H_
