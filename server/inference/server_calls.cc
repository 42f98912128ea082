#include <algorithm>
#include <memory>
#include <vector>

#include "inference/grpc_service.pb.h"
#include "server/inference/methods.h"
#include "server/service/immediate_handler.h"

namespace attend {
namespace {

// Those of Triton's that this server has.
constexpr absl::string_view kExtensions[] = {
    "model_repository",   "model_configuration", "schedule_policy",
    "binary_tensor_data", "parameters",          "statistics"};

absl::StatusOr<inference::ServerLiveResponse> ServerLive(
    const Service&, CallContext&, const inference::ServerLiveRequest&) {
  inference::ServerLiveResponse response;
  response.set_live(true);
  return response;
}

absl::StatusOr<inference::ServerReadyResponse> ServerReady(
    const Service& service, CallContext&,
    const inference::ServerReadyRequest&) {
  inference::ServerReadyResponse response;
  const std::vector<SharedModel> models = service.models.All();
  response.set_ready(
      std::all_of(models.begin(), models.end(),
                  [](const SharedModel& model) { return model->ready(); }));
  return response;
}

absl::StatusOr<inference::ServerMetadataResponse> ServerMetadata(
    const Service& service, CallContext&,
    const inference::ServerMetadataRequest&) {
  inference::ServerMetadataResponse response;
  response.set_name("attend");
  response.set_version(service.version);
  for (absl::string_view extension : kExtensions) {
    response.add_extensions(std::string(extension));
  }
  return response;
}

}  // namespace

std::unique_ptr<Handler> NewServerLiveHandler(const Service& service,
                                              CallContext& context) {
  return NewImmediateHandler(service, context, ServerLive);
}

std::unique_ptr<Handler> NewServerReadyHandler(const Service& service,
                                               CallContext& context) {
  return NewImmediateHandler(service, context, ServerReady);
}

std::unique_ptr<Handler> NewServerMetadataHandler(const Service& service,
                                                  CallContext& context) {
  return NewImmediateHandler(service, context, ServerMetadata);
}

}  // namespace attend
