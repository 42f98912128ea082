#include "server/grpc/tls_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>

#include "engine/tensor/check.h"
#include "engine/tensor/mutex.h"
#include "server/tls/certificates.h"

namespace attend {
namespace {

grpc_ssl_client_certificate_request_type RequestOf(const TlsOptions& options) {
  if (options.client_ca.empty()) {
    return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  }
  return options.requires_client()
             ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
             : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
}

// The C++ interface of gRPC has no credentials that ask for a certificate at
// each connection; its C interface has.
class TlsCredentials final : public grpc::ServerCredentials {
 public:
  explicit TlsCredentials(const Certificates& certificates)
      : certificates_(certificates),
        credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                RequestOf(certificates.options()), &Fetch, this))) {}
  ~TlsCredentials() override { grpc_server_credentials_release(credentials_); }

  // Nobody may ask for it: calls are let in elsewhere.
  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {
    ATTEND_CHECK(false);
  }

 private:
  using Fetched = grpc_ssl_certificate_config_reload_status;

  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  // Asked when the port is made, then at each connection.
  static Fetched Fetch(void* self,
                       grpc_ssl_server_certificate_config** config) {
    return static_cast<TlsCredentials*>(self)->Fetch(*config);
  }

  Fetched Fetch(grpc_ssl_server_certificate_config*& config) {
    std::shared_ptr<const TlsFiles> current = certificates_.current();
    MutexLock lock(mutex_);
    if (current == given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const PemTexts& pem = current->pem;
    const grpc_ssl_pem_key_cert_pair pair = {pem.key.c_str(), pem.cert.c_str()};
    // Debian's gRPC ends the process where there are no CAs. Of clients that
    // are not asked for certificates it looks at none, so any will do.
    const std::string& roots = pem.client_ca.empty() ? pem.cert : pem.client_ca;
    config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    given_ = std::move(current);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const Certificates& certificates_;
  grpc_server_credentials* const credentials_;
  Mutex mutex_;
  std::shared_ptr<const TlsFiles> given_ ABSL_GUARDED_BY(mutex_);  // to gRPC
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> NewTlsCredentials(
    const Certificates& certificates) {
  return std::make_shared<TlsCredentials>(certificates);
}

}  // namespace attend
