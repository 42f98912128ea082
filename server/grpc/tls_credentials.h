#ifndef ATTEND_SERVER_GRPC_TLS_CREDENTIALS_H_
#define ATTEND_SERVER_GRPC_TLS_CREDENTIALS_H_

#include <grpcpp/security/server_credentials.h>

#include <memory>

namespace attend {

class Certificates;

// Credentials for one port. A connection is served with the certificates that
// `certificates` has when the connection comes. `certificates` must outlive the
// server.
//
// gRPC's own watcher of files (FileWatcherCertificateProvider) is not used,
// because it does not check whether key and certificate belong together. gRPC
// 1.51 gives the old files up before it tries the new ones, so no handshake
// would succeed while the files do not match.
std::shared_ptr<grpc::ServerCredentials> NewTlsCredentials(
    const Certificates& certificates);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_TLS_CREDENTIALS_H_
