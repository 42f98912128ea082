#ifndef ATTEND_CLIENT_CPP_LIB_CLIENT_TLS_H_
#define ATTEND_CLIENT_CPP_LIB_CLIENT_TLS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attend {

// How a client and a server prove to each other who they are. Texts in PEM.
struct ClientTls {
  // The CAs that the server's certificate must be of. Empty: those of the
  // system.
  std::string ca = "";
  // The certificate chain and the private key of the client, for a server that
  // asks for them: both or none.
  std::string cert = "";
  std::string key = "";
  // The name that the server's certificate must have. Empty: the host in the
  // address.
  std::string server_name = "";
};

// The same with the paths of files instead of texts; empty: none.
struct ClientTlsFiles {
  std::string ca = "";
  std::string cert = "";
  std::string key = "";
  std::string server_name = "";
};

// Reads the files. Errors name the file, and never what is in it.
absl::StatusOr<ClientTls> ReadClientTls(const ClientTlsFiles& files);

// INVALID_ARGUMENT if a token has what a header may not have. The error does
// not show it.
absl::Status CheckToken(const std::string& token);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CLIENT_TLS_H_
