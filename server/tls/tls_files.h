#ifndef ATTEND_SERVER_TLS_TLS_FILES_H_
#define ATTEND_SERVER_TLS_TLS_FILES_H_

#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/tls/tls_options.h"

namespace attend {

// A certificate that ends within this time is worth a warning.
inline constexpr absl::Duration kLastDaysOfCertificate = absl::Hours(30 * 24);

// What is in the files of TlsOptions.
struct PemTexts {
  std::string cert;
  std::string key;
  std::string client_ca;  // empty: there is no such file
  bool operator==(const PemTexts&) const = default;
};

// Files that can be served. Constant; any thread.
struct TlsFiles {
  PemTexts pem;
  // The certificate and the key as a server of OpenSSL has them. It asks
  // clients for nothing.
  std::shared_ptr<SSL_CTX> context;
  absl::Time end;  // of the first certificate
  // What does not keep the server from listening, but clients from trusting
  // it, today or soon: a certificate that has ended, ends soon or has not
  // begun, and CAs that have all ended.
  std::vector<std::string> warnings;
};

// Errors of both functions name the file, and never what is in it.

absl::StatusOr<PemTexts> ReadPemTexts(const TlsOptions& options);

// Checks that texts, read from the files of `options`, can be served: there are
// certificates, a private key without a pass phrase that belongs to the first
// of them, and CAs if there is a file for them; and OpenSSL takes them.
absl::StatusOr<TlsFiles> CheckPemTexts(const TlsOptions& options, PemTexts pem,
                                       absl::Time now);

}  // namespace attend

#endif  // ATTEND_SERVER_TLS_TLS_FILES_H_
