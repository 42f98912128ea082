#include "tests/integration/raw_call.h"

#include <grpcpp/impl/codegen/client_unary_call.h>

namespace attend {
namespace {

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string FromBuffer(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

std::multimap<std::string, std::string> Copy(
    const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
  std::multimap<std::string, std::string> copy;
  for (const auto& [key, value] : metadata) {
    copy.emplace(std::string(key.data(), key.size()),
                 std::string(value.data(), value.size()));
  }
  return copy;
}

std::shared_ptr<grpc::Channel> Open(const std::string& address,
                                    grpc::ChannelArguments arguments) {
  // A connection of its own.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

}  // namespace

std::shared_ptr<grpc::Channel> RawChannel(const std::string& address) {
  return Open(address, {});
}

std::shared_ptr<grpc::Channel> NarrowChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1024);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  return Open(address, arguments);
}

RawReply CallUnary(grpc::Channel& channel, const std::string& method,
                   const std::string& request, grpc::ClientContext&& context) {
  grpc::ByteBuffer answer;
  RawReply reply;
  reply.status =
      grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
          &channel,
          grpc::internal::RpcMethod(method.c_str(),
                                    grpc::internal::RpcMethod::NORMAL_RPC),
          &context, ToBuffer(request), &answer);
  reply.bytes = FromBuffer(answer);
  reply.initial_metadata = Copy(context.GetServerInitialMetadata());
  reply.trailers = Copy(context.GetServerTrailingMetadata());
  return reply;
}

RawStream::RawStream(grpc::Channel& channel, const std::string& method,
                     const std::string& request)
    : reader_(grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
          &channel,
          grpc::internal::RpcMethod(
              method.c_str(), grpc::internal::RpcMethod::SERVER_STREAMING),
          &context_, ToBuffer(request))) {}

RawStream::~RawStream() { context_.TryCancel(); }

bool RawStream::Read(std::string& answer) {
  grpc::ByteBuffer buffer;
  if (!reader_->Read(&buffer)) return false;
  answer = FromBuffer(buffer);
  return true;
}

}  // namespace attend
