#ifndef ATTEND_CLIENT_CPP_LIB_CLIENT_TLS_H_
#define ATTEND_CLIENT_CPP_LIB_CLIENT_TLS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attend {

// The TLS credentials of a client. All fields except server_name are PEM texts.
struct ClientTls {
  // The CAs accepted for the server's certificate. Empty: the CAs of the
  // system.
  std::string ca = "";
  // The certificate chain and the private key of the client, for a server that
  // asks clients for certificates. Either both are set or none.
  std::string cert = "";
  std::string key = "";
  // The name that the server's certificate must have. Empty: the host in the
  // address.
  std::string server_name = "";
};

// As ClientTls, with file paths instead of texts; empty: none.
struct ClientTlsFiles {
  std::string ca = "";
  std::string cert = "";
  std::string key = "";
  std::string server_name = "";
};

// Reads the files. Errors name the file, and never show its contents.
absl::StatusOr<ClientTls> ReadClientTls(const ClientTlsFiles& files);
// As above, but nullopt unless TLS is requested by `use_tls` or one of `files`.
absl::StatusOr<std::optional<ClientTls>> MaybeReadClientTls(
    bool use_tls, const ClientTlsFiles& files);

// INVALID_ARGUMENT if the token has a character that a header may not have. The
// error does not show the token.
absl::Status CheckToken(const std::string& token);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CLIENT_TLS_H_
