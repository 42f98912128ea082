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

// The contents of the files of TlsOptions.
struct PemTexts {
  std::string cert;
  std::string key;
  std::string client_ca;  // empty: there is no such file
  bool operator==(const PemTexts&) const = default;
};

// Certificate files that can be served. Constant; any thread may read them.
struct TlsFiles {
  PemTexts pem;
  // The certificate and the key in OpenSSL's form for servers. If there are CAs
  // for clients, a client may have a certificate of theirs, or none, as probes
  // have.
  std::shared_ptr<SSL_CTX> context;
  absl::Time end;  // expiry of the first certificate
  // Flaws with which the server can listen, but which keep clients from
  // connecting, today or soon: a certificate that has ended, ends soon or has
  // not begun, and CAs that have all ended.
  std::vector<std::string> warnings;
};

// Errors of both functions name the file, and never show its contents.

absl::StatusOr<PemTexts> ReadPemTexts(const TlsOptions& options);

// Checks that texts, which were read from the files of `options`, can be
// served:
// * there is at least one certificate;
// * there is a private key without a pass phrase, and it belongs to the first
//   certificate;
// * if options.client_ca is set, there is at least one CA;
// * OpenSSL accepts them all.
absl::StatusOr<TlsFiles> CheckPemTexts(const TlsOptions& options, PemTexts pem,
                                       absl::Time now);

}  // namespace attend

#endif  // ATTEND_SERVER_TLS_TLS_FILES_H_
