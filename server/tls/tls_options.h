#ifndef ATTEND_SERVER_TLS_TLS_OPTIONS_H_
#define ATTEND_SERVER_TLS_TLS_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// The clients that may connect if there is a CA for clients.
enum class ClientAuth {
  kRequire,   // only clients with a certificate of the CA
  kOptional,  // clients without a certificate, too
};

// "require" or "optional".
absl::StatusOr<ClientAuth> ParseClientAuth(absl::string_view name);
absl::string_view ClientAuthName(ClientAuth client_auth);

// The options of TLS. All files are in PEM.
struct TlsOptions {
  // The certificate chain and the private key: both or none. Empty: no TLS.
  std::string cert = "";
  std::string key = "";
  // The CAs that sign the certificates of clients. Empty: clients are not asked
  // for certificates.
  std::string client_ca = "";
  // May be set only with client_ca. nullopt: kRequire.
  std::optional<ClientAuth> client_auth = std::nullopt;

  bool enabled() const { return !cert.empty(); }
  // True if a client without a certificate may not call.
  bool requires_client() const {
    return !client_ca.empty() && client_auth != ClientAuth::kOptional;
  }
  // INVALID_ARGUMENT names the options that do not go together.
  absl::Status Validate() const;
};

}  // namespace attend

#endif  // ATTEND_SERVER_TLS_TLS_OPTIONS_H_
