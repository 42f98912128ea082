#ifndef ATTEND_SERVER_GRPC_TLS_CREDENTIALS_H_
#define ATTEND_SERVER_GRPC_TLS_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

namespace attend {

class Certificates;

// Credentials for one port, with which a connection is served by what
// `certificates` have when it comes. They must outlive the server.
//
// gRPC's own watcher of files (FileWatcherCertificateProvider) is not used: it
// does not check whether a key and a certificate belong together, and gRPC 1.51
// gives the old ones up before it tries new ones, so that no handshake succeeds
// while the files do not match.
std::shared_ptr<grpc::ServerCredentials> NewTlsCredentials(
    const Certificates& certificates);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_TLS_CREDENTIALS_H_
