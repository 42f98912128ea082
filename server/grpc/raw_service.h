#ifndef ATTEND_SERVER_GRPC_RAW_SERVICE_H_
#define ATTEND_SERVER_GRPC_RAW_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/service/methods.h"

namespace attend {

// A service as gRPC knows it, with messages as bytes: where gRPC parses them
// itself, a message that is not one ends as INTERNAL before our code sees the
// call; but it is the client's mistake. Any service that a proto file declares
// will do; what is not among its methods ends as UNIMPLEMENTED.
class RawService final : public grpc::Service {
 public:
  // Those of `methods` that belong to `descriptor`. Both outlive this.
  RawService(const google::protobuf::ServiceDescriptor& descriptor,
             const std::vector<Method>& methods);

  const std::string& name() const { return descriptor_.full_name(); }
  int size() const { return static_cast<int>(methods_.size()); }
  const Method& method(int index) const { return *methods_[index]; }

  // Asks for the next call of a method: when it has come, with its message in
  // `bytes`, `tag` comes out of `queue`. A unary call is answered as a stream
  // of one message: on the wire they are the same.
  void Ask(int index, grpc::ServerContext& context, grpc::ByteBuffer& bytes,
           grpc::ServerAsyncWriter<grpc::ByteBuffer>& writer,
           grpc::ServerCompletionQueue& queue, void* tag);

 private:
  const google::protobuf::ServiceDescriptor& descriptor_;
  std::vector<const Method*> methods_;
  std::deque<std::string> paths_;  // gRPC borrows them
};

// Takes the bytes. INVALID_ARGUMENT if they are not a message of that type, or
// a string in it is not UTF-8.
absl::Status ParseMessage(grpc::ByteBuffer& bytes,
                          google::protobuf::Message& message);

grpc::ByteBuffer ToBytes(const google::protobuf::Message& message);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_RAW_SERVICE_H_
