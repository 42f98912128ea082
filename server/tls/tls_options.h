#ifndef ATTEND_SERVER_TLS_TLS_OPTIONS_H_
#define ATTEND_SERVER_TLS_TLS_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Which clients are let in where there is a CA for them.
enum class ClientAuth {
  kRequire,   // those with a certificate of the CA
  kOptional,  // those without a certificate, too
};

// "require" or "optional".
absl::StatusOr<ClientAuth> ParseClientAuth(absl::string_view name);
absl::string_view ClientAuthName(ClientAuth client_auth);

// Of the certificates that the server has. All files are PEM.
struct TlsOptions {
  // The certificate chain and the private key: both or none. Empty: no TLS.
  std::string cert = "";
  std::string key = "";
  // The CAs that clients' certificates are of. Empty: clients are not asked for
  // any.
  std::string client_ca = "";
  // Only with client_ca. Nothing: kRequire.
  std::optional<ClientAuth> client_auth = std::nullopt;

  bool enabled() const { return !cert.empty(); }
  // INVALID_ARGUMENT names the options that do not go together.
  absl::Status Validate() const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_TLS_TLS_OPTIONS_H_
