#include "server/grpc/raw_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/support/slice.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"
#include "server/grpc/message_limit.h"

namespace attend {
namespace {

using Traits = grpc::SerializationTraits<google::protobuf::Message>;
using grpc::internal::RpcServiceMethod;

// Less is as small as what gRPC itself takes for a call.
constexpr size_t kLargeAnswer = 64 << 10;

}  // namespace

RawService::RawService(const google::protobuf::ServiceDescriptor& descriptor,
                       const std::vector<Method>& methods)
    : descriptor_(descriptor) {
  for (const Method& method : methods) {
    if (method.descriptor->service() != &descriptor) continue;
    paths_.push_back(absl::StrCat("/", name(), "/", method.name()));
    // What a generated service does, too. The handler is null: asynchronous
    // methods have none.
    AddMethod(new RpcServiceMethod(paths_.back().c_str(),
                                   RpcServiceMethod::BIDI_STREAMING, nullptr));
    MarkMethodRaw(size());
    methods_.push_back(&method);
  }
}

void RawService::Ask(int index, grpc::ServerContext& context,
                     MessageStream& stream, grpc::ServerCompletionQueue& queue,
                     void* tag) {
  RequestAsyncBidiStreaming(index, &context, &stream, &queue, &queue, tag);
}

absl::Status ParseMessage(grpc::ByteBuffer& bytes,
                          google::protobuf::Message& message) {
  RETURN_IF_ERROR(CheckUnpacked(bytes));
  const size_t length = bytes.Length();
  if (Traits::Deserialize(&bytes, &message).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("request of ", length, " bytes is not a valid ",
                   std::string(message.GetDescriptor()->full_name()),
                   ": its wire format is broken or a text is not UTF-8"));
}

absl::StatusOr<grpc::ByteBuffer> ToBytes(
    const google::protobuf::Message& message, size_t max_bytes) {
  const size_t size = message.ByteSizeLong();
  if (size > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the answer has ", size, " bytes, limit is ", max_bytes,
        ": ask for fewer inputs, results or log-probabilities in a call"));
  }
  grpc::ByteBuffer bytes;
  if (size < kLargeAnswer) {
    bool owns = false;
    ATTEND_CHECK(Traits::Serialize(message, &bytes, &owns).ok());
    return bytes;
  }
  std::unique_ptr<void, decltype(&std::free)> memory(std::malloc(size),
                                                     &std::free);
  if (memory == nullptr) throw std::bad_alloc();
  ATTEND_CHECK(message.SerializeToArray(memory.get(), static_cast<int>(size)));
  const grpc::Slice slice(memory.release(), size, &std::free);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace attend
