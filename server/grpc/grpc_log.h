#ifndef ATTEND_SERVER_GRPC_GRPC_LOG_H_
#define ATTEND_SERVER_GRPC_GRPC_LOG_H_

#include "server/observability/log.h"

namespace attend {

// While it lives, what gRPC has to say goes to the log (event=grpc). By itself
// gRPC writes to standard error: in another form, and its threads wait for
// whoever reads that, at each handshake that a client makes fail. One at a
// time.
class GrpcLog {
 public:
  explicit GrpcLog(Log& log);
  ~GrpcLog();
  GrpcLog(const GrpcLog&) = delete;
  GrpcLog& operator=(const GrpcLog&) = delete;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_GRPC_LOG_H_
