#include "server/grpc/tls_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

Bio Open(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

absl::Status Bad(const std::string& path, absl::string_view what) {
  ERR_clear_error();  // the thread's queue, which is not read
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

// Asked for the pass phrase of a key.
int HaveNone(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

// The first certificate; those after it, its issuers, are only read.
absl::StatusOr<Certificate> ParseChain(const std::string& path,
                                       const std::string& text) {
  const Bio bio = Open(text);
  Certificate first;
  while (true) {
    Certificate next(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    if (first == nullptr) first = std::move(next);
  }
  const bool at_end =
      ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (first == nullptr && at_end) {
    return Bad(path, "has no certificate in PEM (-----BEGIN CERTIFICATE-----)");
  }
  if (!at_end) return Bad(path, "has a certificate that cannot be read");
  ERR_clear_error();
  return first;
}

absl::StatusOr<Key> ParseKey(const std::string& path, const std::string& text) {
  const Bio bio = Open(text);
  bool asked = false;
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, HaveNone, &asked));
  if (key != nullptr) return key;
  if (asked) return Bad(path, "has a pass phrase, must have none");
  return Bad(path, "has no private key in PEM (-----BEGIN PRIVATE KEY-----)");
}

std::string TimeText(const ASN1_TIME* time) {
  const Bio bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, size);
}

std::vector<std::string> Warnings(const std::string& path, const X509& cert) {
  std::vector<std::string> warnings;
  const ASN1_TIME* const begin = X509_get0_notBefore(&cert);
  const ASN1_TIME* const end = X509_get0_notAfter(&cert);
  if (X509_cmp_current_time(end) < 0) {
    warnings.push_back(
        absl::StrCat(path, ": the certificate has ended on ", TimeText(end)));
  }
  if (X509_cmp_current_time(begin) > 0) {
    warnings.push_back(
        absl::StrCat(path, ": the certificate begins on ", TimeText(begin)));
  }
  return warnings;
}

}  // namespace

absl::StatusOr<TlsFiles> ReadTlsFiles(const std::string& cert_path,
                                      const std::string& key_path) {
  TlsFiles files;
  ASSIGN_OR_RETURN(files.cert, ReadFile(cert_path));
  ASSIGN_OR_RETURN(files.key, ReadFile(key_path));
  ASSIGN_OR_RETURN(const Certificate cert, ParseChain(cert_path, files.cert));
  ASSIGN_OR_RETURN(const Key key, ParseKey(key_path, files.key));
  if (X509_check_private_key(cert.get(), key.get()) != 1) {
    return Bad(key_path, absl::StrCat("the key does not belong to the first "
                                      "certificate of ",
                                      cert_path));
  }
  files.warnings = Warnings(cert_path, *cert);
  return files;
}

}  // namespace attend
