#ifndef ATTEND_SERVER_TLS_PEM_H_
#define ATTEND_SERVER_TLS_PEM_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace attend {

template <auto Free>
struct FreedBy {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Certificate = std::unique_ptr<X509, FreedBy<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;

// INVALID_ARGUMENT that names the file and `what`. Clears the errors that
// OpenSSL has noted in this thread.
absl::Status BadFile(const std::string& path, absl::string_view what);

// The certificates in a text, at least one. `path` names the text in errors.
absl::StatusOr<std::vector<Certificate>> ParseCertificates(
    const std::string& path, const std::string& text);

// The first private key in a text. A key with a pass phrase is an error.
absl::StatusOr<PrivateKey> ParsePrivateKey(const std::string& path,
                                           const std::string& text);

// The time in which a certificate is valid.
struct CertificateTimes {
  absl::Time begin;
  absl::Time end;
};
absl::StatusOr<CertificateTimes> TimesOf(const std::string& path,
                                         const X509& certificate);

}  // namespace attend

#endif  // ATTEND_SERVER_TLS_PEM_H_
