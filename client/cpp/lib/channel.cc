#include "client/cpp/lib/channel.h"

#include <chrono>

#include "absl/strings/str_cat.h"

namespace attend {

std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  // Each channel has a connection of its own, also if a process has two
  // clients.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

void SetTimeout(grpc::ClientContext& context, absl::Duration timeout) {
  if (timeout == absl::InfiniteDuration()) return;
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoNanoseconds(timeout));
}

std::unique_ptr<UnaryReader> PrepareUnary(
    UnaryStub& stub, grpc::ClientContext& context, const std::string& method,
    const google::protobuf::Message& request, grpc::CompletionQueue& queue) {
  return stub.PrepareUnaryCall(
      &context, absl::StrCat("/attend.v1.Attend/", method), request, &queue);
}

absl::Status ToAbslStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace attend
