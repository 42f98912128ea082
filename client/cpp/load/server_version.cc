#include "client/cpp/load/server_version.h"

#include "absl/strings/str_cat.h"
#include "client/cpp/lib/channel.h"
#include "inference/grpc_service.pb.h"

namespace attend {

absl::StatusOr<std::string> ServerVersion(const ClientOptions& options) {
  UnaryStub stub(OpenChannel(options));
  grpc::ClientContext context;
  SetTimeout(context, options.timeout);
  AddMetadata(context, MetadataOf(options));
  grpc::CompletionQueue queue;
  const inference::ServerMetadataRequest request;
  inference::ServerMetadataResponse response;
  grpc::Status status;
  const std::unique_ptr<UnaryReader> reader = stub.PrepareUnaryCall(
      &context, "/inference.GRPCInferenceService/ServerMetadata", request,
      &queue);
  reader->StartCall();
  reader->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  if (!status.ok()) return ToAbslStatus(status);
  return absl::StrCat(response.name(), " ", response.version());
}

}  // namespace attend
