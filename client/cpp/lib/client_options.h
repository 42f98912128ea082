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

// What a client is made from.
struct ClientOptions {
  // HOST:PORT, or several of them with commas between; names in a list are
  // looked up once. Of one name, DNS may have several servers, and is asked
  // again when one is lost. Calls go to the servers in turn. One alone may also
  // be unix:PATH.
  std::string address = "localhost:50051";
  // Calls go to those servers only whose grpc.health.v1 says that they are
  // serving; those of attend.v1.Admin to all. false: behind a proxy that
  // balances calls, since the health of one server would speak for all.
  bool health_checks = true;
  // nullopt: no TLS.
  std::optional<ClientTls> tls = std::nullopt;
  // Sent with each call, as "authorization: Bearer TOKEN". Empty: no token is
  // sent. Without TLS everybody between client and server can read the token.
  std::string token = "";
  // Of requests that name no model. Empty: the server's default model.
  std::string model = "";
  // Deadline of each call, retries and the pauses before them included.
  // absl::InfiniteDuration(): no deadline.
  absl::Duration timeout = absl::Seconds(60);
  RetryPolicy retry = {};
  // A stream that breaks off is made again, too, by the rules of `retry`, and
  // goes on where it ended. If it has another text then, it ends with
  // UNAVAILABLE.
  bool resume = true;
  // Calls (not streams) that have no answer after this time are sent once more,
  // in most cases to another server; the first answer counts. Well above what
  // most calls take. At most a third of the calls, and ten at once.
  absl::Duration hedge_after = absl::InfiniteDuration();
  // Calls go to one server, as long as it serves, if so many first bytes of
  // their first input are alike: its cache has what they begin with. Names are
  // looked up again while a server is lost. 0: calls go to servers in turn.
  size_t affinity = 0;
  // Metadata of each call, for instance {"x-request-id", "42"}.
  Metadata metadata = {};
  // Takes the place of the pause before a retry, in tests.
  std::function<void(absl::Duration)> sleep = nullptr;
};

// What differs from call to call.
struct CallOptions {
  // As in ClientOptions, which has it for calls that do not say.
  std::optional<absl::Duration> timeout = std::nullopt;
  // Sent with that of the client.
  Metadata metadata = {};
  // Lets another thread cancel the call, also in a pause before a retry: it
  // returns CANCELLED. May be null, and must outlive the call.
  Cancellation* cancellation = nullptr;
};

// Options with what the variables say that the command `attend` reads, too:
// ATTEND_ADDRESS, ATTEND_TOKEN, ATTEND_TLS, ATTEND_CA, ATTEND_CERT, ATTEND_KEY
// and ATTEND_SERVER_NAME. INVALID_ARGUMENT names what is wrong with them.
absl::StatusOr<ClientOptions> OptionsFromEnvironment();

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CLIENT_OPTIONS_H_
