#include "server/grpc/raw_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

using Traits = grpc::SerializationTraits<google::protobuf::Message>;

}  // namespace

absl::Status ParseMessage(grpc::ByteBuffer& bytes,
                          google::protobuf::Message& message) {
  const size_t length = bytes.Length();
  if (Traits::Deserialize(&bytes, &message).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("request of ", length, " bytes is not a valid ",
                   std::string(message.GetDescriptor()->full_name()),
                   ": its wire format is broken or a text is not UTF-8"));
}

grpc::ByteBuffer ToBytes(const google::protobuf::Message& message) {
  grpc::ByteBuffer bytes;
  bool owns = false;
  ATTEND_CHECK(Traits::Serialize(message, &bytes, &owns).ok());
  return bytes;
}

}  // namespace attend
