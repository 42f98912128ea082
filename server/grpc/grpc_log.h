#ifndef ATTEND_SERVER_GRPC_GRPC_LOG_H_
#define ATTEND_SERVER_GRPC_GRPC_LOG_H_

#include "server/observability/log.h"

namespace attend {

// While a GrpcLog exists, the messages of gRPC go to the log (event=grpc).
// Without it gRPC writes its messages to standard error: in another form, and
// with threads that wait for the reader of standard error, once for each
// handshake that a client makes fail. There may be one GrpcLog at a time.
class GrpcLog {
 public:
  explicit GrpcLog(Log& log);
  ~GrpcLog();
  GrpcLog(const GrpcLog&) = delete;
  GrpcLog& operator=(const GrpcLog&) = delete;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_GRPC_LOG_H_
