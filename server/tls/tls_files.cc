#include "server/tls/tls_files.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "server/tls/pem.h"

namespace attend {
namespace {

using Chain = std::vector<Certificate>;

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::vector<std::string> Warnings(const std::string& path,
                                  const CertificateTimes& times,
                                  absl::Time now) {
  std::vector<std::string> warnings;
  if (times.end < now) {
    warnings.push_back(absl::StrCat(path, ": the certificate has ended on ",
                                    TimeText(times.end)));
  } else if (times.end < now + kLastDaysOfCertificate) {
    warnings.push_back(
        absl::StrCat(path, ": the certificate ends on ", TimeText(times.end),
                     ", in ", (times.end - now) / absl::Hours(24), " days"));
  }
  if (times.begin > now) {
    warnings.push_back(absl::StrCat(path, ": the certificate begins on ",
                                    TimeText(times.begin)));
  }
  return warnings;
}

// The last error that OpenSSL has noted on this thread.
std::string LastReason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason == nullptr ? "openssl refuses it" : reason;
}

// gRPC makes such a context too, but does not name its errors: for instance a
// key that is too short, or a signature that is too weak.
absl::StatusOr<std::shared_ptr<SSL_CTX>> NewContext(const TlsOptions& options,
                                                    const Chain& chain,
                                                    EVP_PKEY& key) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()),
                                   &SSL_CTX_free);
  if (context == nullptr) return BadFile(options.cert, LastReason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Clients may not ask for new handshakes on a connection, because handshakes
  // are costly. Idle connections release their buffers.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  bool taken = SSL_CTX_use_certificate(context.get(), chain.front().get()) == 1;
  for (size_t i = 1; taken && i < chain.size(); ++i) {
    taken = SSL_CTX_add1_chain_cert(context.get(), chain[i].get()) == 1;
  }
  if (!taken) {
    return BadFile(options.cert, absl::StrCat("has a certificate that cannot "
                                              "be served: ",
                                              LastReason()));
  }
  if (SSL_CTX_use_PrivateKey(context.get(), &key) != 1) {
    return BadFile(options.key, absl::StrCat("has a key that cannot be used: ",
                                             LastReason()));
  }
  return context;
}

// Asks clients for certificates of these authorities.
absl::Status AskClients(const TlsOptions& options, const Chain& authorities,
                        SSL_CTX& context) {
  // A resumed session must be of this server.
  constexpr unsigned char kName[] = "attend";
  bool taken =
      SSL_CTX_set_session_id_context(&context, kName, sizeof(kName)) == 1;
  X509_STORE& store = *SSL_CTX_get_cert_store(&context);
  for (const Certificate& authority : authorities) {
    taken = taken && X509_STORE_add_cert(&store, authority.get()) == 1 &&
            SSL_CTX_add_client_CA(&context, authority.get()) == 1;
  }
  if (!taken) return BadFile(options.client_ca, LastReason());
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
  return absl::OkStatus();
}

// Takes the CAs of clients. Returns the warnings about them.
absl::StatusOr<std::vector<std::string>> TakeClientCa(const TlsOptions& options,
                                                      const std::string& text,
                                                      absl::Time now,
                                                      SSL_CTX& context) {
  ASSIGN_OR_RETURN(const Chain authorities,
                   ParseCertificates(options.client_ca, text));
  RETURN_IF_ERROR(AskClients(options, authorities, context));
  absl::Time last = absl::InfinitePast();
  for (const Certificate& authority : authorities) {
    ASSIGN_OR_RETURN(const CertificateTimes times,
                     TimesOf(options.client_ca, *authority));
    last = std::max(last, times.end);
  }
  std::vector<std::string> warnings;
  if (last < now) {
    warnings.push_back(absl::StrCat(options.client_ca,
                                    ": the last CA of clients has ended on ",
                                    TimeText(last)));
  }
  return warnings;
}

}  // namespace

absl::StatusOr<PemTexts> ReadPemTexts(const TlsOptions& options) {
  PemTexts pem;
  ASSIGN_OR_RETURN(pem.cert, ReadFile(options.cert));
  ASSIGN_OR_RETURN(pem.key, ReadFile(options.key));
  if (!options.client_ca.empty()) {
    ASSIGN_OR_RETURN(pem.client_ca, ReadFile(options.client_ca));
  }
  return pem;
}

absl::StatusOr<TlsFiles> CheckPemTexts(const TlsOptions& options, PemTexts pem,
                                       absl::Time now) {
  ASSIGN_OR_RETURN(const Chain chain,
                   ParseCertificates(options.cert, pem.cert));
  ASSIGN_OR_RETURN(const PrivateKey key, ParsePrivateKey(options.key, pem.key));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    return BadFile(options.key,
                   absl::StrCat("the key does not belong to the first "
                                "certificate of ",
                                options.cert));
  }
  TlsFiles files;
  ASSIGN_OR_RETURN(files.context, NewContext(options, chain, *key));
  ASSIGN_OR_RETURN(const CertificateTimes times,
                   TimesOf(options.cert, *chain.front()));
  files.end = times.end;
  files.warnings = Warnings(options.cert, times, now);
  if (!options.client_ca.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> more,
                     TakeClientCa(options, pem.client_ca, now, *files.context));
    files.warnings.insert(files.warnings.end(), more.begin(), more.end());
  }
  files.pem = std::move(pem);
  return files;
}

}  // namespace attend
