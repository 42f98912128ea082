#include "server/tls/tls_options.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace attend {

absl::StatusOr<ClientAuth> ParseClientAuth(absl::string_view name) {
  for (const ClientAuth value : {ClientAuth::kRequire, ClientAuth::kOptional}) {
    if (name == ClientAuthName(value)) return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", absl::CHexEscape(name.substr(0, 200)),
                   "' is not require or optional"));
}

absl::string_view ClientAuthName(ClientAuth client_auth) {
  return client_auth == ClientAuth::kRequire ? "require" : "optional";
}

absl::Status TlsOptions::Validate() const {
  if (cert.empty() != key.empty()) {
    return absl::InvalidArgumentError(
        "tls_cert and tls_key must be given together");
  }
  if (!client_ca.empty() && cert.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tls_client_ca is ", client_ca, ", needs tls_cert and tls_key"));
  }
  // Without a CA clients are not checked, whatever this option says.
  if (client_auth.has_value() && client_ca.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("tls_client_auth is ",
                                                   ClientAuthName(*client_auth),
                                                   ", needs tls_client_ca"));
  }
  return absl::OkStatus();
}

}  // namespace attend
