#ifndef ATTEND_SERVER_GRPC_TLS_FILES_H_
#define ATTEND_SERVER_GRPC_TLS_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attend {

// A certificate chain and its private key, in PEM.
struct TlsFiles {
  std::string cert;
  std::string key;
  // What does not keep the server from listening, but clients from trusting
  // it: a certificate that has ended or has not begun, and until when.
  std::vector<std::string> warnings;
};

// Reads both files and checks that they can be served: the first one has
// certificates, the second one a private key without a pass phrase that belongs
// to the first certificate. Errors name the file, and never what is in it.
absl::StatusOr<TlsFiles> ReadTlsFiles(const std::string& cert_path,
                                      const std::string& key_path);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_TLS_FILES_H_
