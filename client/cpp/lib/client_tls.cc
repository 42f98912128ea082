#include "client/cpp/lib/client_tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

constexpr char kCertificate[] = "-----BEGIN CERTIFICATE-----";
constexpr char kPrivateKey[] = "PRIVATE KEY-----";

// The text of a file that has to have `mark` in it; empty if there is no path.
absl::StatusOr<std::string> ReadPem(const std::string& path,
                                    absl::string_view what,
                                    absl::string_view mark) {
  if (path.empty()) return "";
  std::error_code ignored;
  const std::ifstream file(path, std::ios::binary);
  if (!file.is_open() || std::filesystem::is_directory(path, ignored)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": cannot be read: ", std::strerror(file.is_open() ? EISDIR : errno)));
  }
  std::ostringstream read;
  read << file.rdbuf();
  const std::string text = read.str();
  if (!absl::StrContains(text, mark) || absl::StrContains(text, '\0')) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has no ", what, " in PEM (", mark, ")"));
  }
  return text;
}

template <auto Free>
struct FreedBy {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;
using Certificate = std::unique_ptr<X509, FreedBy<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;

// OpenSSL calls this function for the pass phrase of a key.
int HaveNone(char*, int, int, void*) { return -1; }

// Checks certificate and key here, because gRPC's error would only say that
// there are no addresses.
absl::Status CheckPair(const ClientTlsFiles& files, const ClientTls& tls) {
  const Bio cert(BIO_new_mem_buf(tls.cert.data(), tls.cert.size()));
  const Bio key(BIO_new_mem_buf(tls.key.data(), tls.key.size()));
  const Certificate first(
      PEM_read_bio_X509(cert.get(), nullptr, nullptr, nullptr));
  const PrivateKey its(
      PEM_read_bio_PrivateKey(key.get(), nullptr, HaveNone, nullptr));
  const bool match = first != nullptr && its != nullptr &&
                     X509_check_private_key(first.get(), its.get()) == 1;
  ERR_clear_error();
  if (match) return absl::OkStatus();
  if (first == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.cert, ": has a certificate that cannot be read"));
  }
  if (its == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.key,
                     ": has a key that cannot be read; it must have no pass "
                     "phrase"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(files.key,
                   ": the key does not belong to the first "
                   "certificate of ",
                   files.cert));
}

}  // namespace

absl::StatusOr<ClientTls> ReadClientTls(const ClientTlsFiles& files) {
  if (files.cert.empty() != files.key.empty()) {
    return absl::InvalidArgumentError("cert and key must be given together");
  }
  ClientTls tls;
  tls.server_name = files.server_name;
  for (const auto& [path, text] :
       {std::pair(files.ca, &tls.ca), std::pair(files.cert, &tls.cert)}) {
    auto read = ReadPem(path, "certificate", kCertificate);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  auto key = ReadPem(files.key, "private key", kPrivateKey);
  if (!key.ok()) return key.status();
  tls.key = *std::move(key);
  if (!tls.cert.empty()) {
    if (absl::Status pair = CheckPair(files, tls); !pair.ok()) return pair;
  }
  return tls;
}

absl::StatusOr<std::optional<ClientTls>> MaybeReadClientTls(
    bool use_tls, const ClientTlsFiles& files) {
  if (!use_tls && files.ca.empty() && files.cert.empty() && files.key.empty() &&
      files.server_name.empty()) {
    return std::nullopt;
  }
  return ReadClientTls(files);
}

absl::Status CheckToken(const std::string& token) {
  if (std::all_of(token.begin(), token.end(), absl::ascii_isgraph)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "the token has a character that is not printable ASCII, or a space");
}

}  // namespace attend
