#ifndef ATTEND_SERVER_GRPC_RAW_SERVICE_H_
#define ATTEND_SERVER_GRPC_RAW_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/service/methods.h"

namespace attend {

// The messages of a call, both ways.
using MessageStream =
    grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

// A service in gRPC's sense whose messages are bytes. Serves any service of a
// proto file. If gRPC parsed messages, a message that cannot be parsed would
// end the call with INTERNAL before our code sees the call, although the
// mistake is the client's. A call of a method that is not served ends with
// UNIMPLEMENTED.
class RawService final : public grpc::Service {
 public:
  // Serves the methods of `methods` that belong to `descriptor`. Both arguments
  // must outlive the service.
  RawService(const google::protobuf::ServiceDescriptor& descriptor,
             const std::vector<Method>& methods);

  const std::string& name() const { return descriptor_.full_name(); }
  int size() const { return static_cast<int>(methods_.size()); }
  const Method& method(int index) const { return *methods_[index]; }

  // Asks for the next call of method(index). When the call's headers have come,
  // `tag` comes out of `queue`: to gRPC each call is a stream of messages both
  // ways. On the wire a stream of one message is the same as none; but of a
  // method with one request, gRPC would read that before it shows the call.
  void Ask(int index, grpc::ServerContext& context, MessageStream& stream,
           grpc::ServerCompletionQueue& queue, void* tag);

 private:
  const google::protobuf::ServiceDescriptor& descriptor_;
  std::vector<const Method*> methods_;
  std::deque<std::string> paths_;  // gRPC borrows them
};

// Parses `bytes`, which are empty afterwards. INVALID_ARGUMENT if they are not
// a message of the type of `message`, or if a string in the message is not
// UTF-8; an error of CheckUnpacked().
absl::Status ParseMessage(grpc::ByteBuffer& bytes,
                          google::protobuf::Message& message);

// The message in protobuf's wire format. RESOURCE_EXHAUSTED if it would have
// more than `max_bytes`; by default the most that protobuf writes. What is
// large is in memory of ours, so that a lack of it is std::bad_alloc: where
// gRPC lacks memory of its own, it ends the process.
absl::StatusOr<grpc::ByteBuffer> ToBytes(
    const google::protobuf::Message& message,
    size_t max_bytes = std::numeric_limits<int>::max());

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_RAW_SERVICE_H_
