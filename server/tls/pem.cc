#include "server/tls/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"

namespace attend {
namespace {

using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;

// Files have at most 64 MiB.
Bio Open(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// gRPC reads texts up to a zero byte, so it would see less of the file.
constexpr char kHasZero[] = "has a zero byte, which PEM does not allow";
bool HasZero(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

// OpenSSL calls this function for the pass phrase of a key.
int HaveNone(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

absl::StatusOr<absl::Time> ToTime(const std::string& path,
                                  const ASN1_TIME* time) {
  tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return BadFile(path, "has a certificate with an invalid time");
  }
  const absl::CivilSecond second(parts.tm_year + 1900, parts.tm_mon + 1,
                                 parts.tm_mday, parts.tm_hour, parts.tm_min,
                                 parts.tm_sec);
  return absl::FromCivil(second, absl::UTCTimeZone());
}

}  // namespace

absl::Status BadFile(const std::string& path, absl::string_view what) {
  ERR_clear_error();  // the thread's queue, which is not read
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

absl::StatusOr<std::vector<Certificate>> ParseCertificates(
    const std::string& path, const std::string& text) {
  const Bio bio = Open(text);
  std::vector<Certificate> chain;
  while (true) {
    Certificate next(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    chain.push_back(std::move(next));
  }
  const bool at_end =
      ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (chain.empty() && at_end) {
    return BadFile(path,
                   "has no certificate in PEM (-----BEGIN CERTIFICATE-----)");
  }
  if (!at_end) return BadFile(path, "has a certificate that cannot be read");
  if (HasZero(text)) return BadFile(path, kHasZero);
  ERR_clear_error();
  return chain;
}

absl::StatusOr<PrivateKey> ParsePrivateKey(const std::string& path,
                                           const std::string& text) {
  const Bio bio = Open(text);
  bool asked = false;
  PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, HaveNone, &asked));
  if (key != nullptr && HasZero(text)) return BadFile(path, kHasZero);
  if (key != nullptr) return key;
  if (asked) return BadFile(path, "has a pass phrase, must have none");
  return BadFile(path,
                 "has no private key in PEM (-----BEGIN PRIVATE KEY-----)");
}

absl::StatusOr<CertificateTimes> TimesOf(const std::string& path,
                                         const X509& certificate) {
  const auto begin = ToTime(path, X509_get0_notBefore(&certificate));
  if (!begin.ok()) return begin.status();
  const auto end = ToTime(path, X509_get0_notAfter(&certificate));
  if (!end.ok()) return end.status();
  return CertificateTimes{*begin, *end};
}

}  // namespace attend
