#include "client/cpp/lib/client_options.h"

#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// Of a variable; empty if there is none.
std::string ValueOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

absl::StatusOr<bool> WantsTls() {
  const std::string given = ValueOf("ATTEND_TLS");
  const std::string text = absl::AsciiStrToLower(given);
  for (const char* yes : {"1", "true", "on", "yes"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"0", "false", "off", "no", ""}) {
    if (text == no) return false;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("ATTEND_TLS is '", given, "', must be true or false"));
}

}  // namespace

absl::StatusOr<ClientOptions> OptionsFromEnvironment() {
  ClientOptions options;
  if (const std::string address = ValueOf("ATTEND_ADDRESS"); !address.empty()) {
    options.address = address;
  }
  options.token = ValueOf("ATTEND_TOKEN");
  if (absl::Status token = CheckToken(options.token); !token.ok()) return token;
  const absl::StatusOr<bool> wants_tls = WantsTls();
  if (!wants_tls.ok()) return wants_tls.status();
  auto tls = MaybeReadClientTls(*wants_tls,
                                {.ca = ValueOf("ATTEND_CA"),
                                 .cert = ValueOf("ATTEND_CERT"),
                                 .key = ValueOf("ATTEND_KEY"),
                                 .server_name = ValueOf("ATTEND_SERVER_NAME")});
  if (!tls.ok()) return tls.status();
  options.tls = *std::move(tls);
  return options;
}

}  // namespace attend
