#include <memory>
#include <string>

#include "inference/grpc_service.pb.h"
#include "server/inference/methods.h"
#include "server/inference/model_version.h"
#include "server/service/immediate_handler.h"

namespace attend {
namespace {

// The words of a Triton that loads its models when it starts, so that clients
// find them. KServe's requests have another form; nothing of them is read.
absl::Status NotLoaded() {
  return absl::UnavailableError(
      "explicit model load / unload is not allowed if polling is enabled: "
      "models are loaded when the server starts");
}

// Empty: the model is ready.
std::string WhyNotReady(const ModelEntry& model) {
  if (model.ready()) return "";
  if (model.served.ok()) return "its last steps failed";
  return std::string(model.served.status().message());
}

absl::StatusOr<inference::RepositoryIndexResponse> RepositoryIndex(
    const Service& service, CallContext& context,
    const inference::RepositoryIndexRequest& request) {
  if (!request.repository_name().empty()) {
    return absl::UnimplementedError(
        "repository_name is set, must be empty: there is one repository");
  }
  inference::RepositoryIndexResponse response;
  for (const ModelEntry& model : service.models) {
    if (!context.account().MayUse(model.name)) continue;
    const std::string reason = WhyNotReady(model);
    if (request.ready() && !reason.empty()) continue;
    auto& entry = *response.add_models();
    entry.set_name(model.name);
    entry.set_version(std::string(kModelVersion));
    entry.set_state(reason.empty() ? "READY" : "UNAVAILABLE");
    entry.set_reason(reason);
  }
  return response;
}

absl::StatusOr<inference::RepositoryModelLoadResponse> RepositoryModelLoad(
    const Service&, CallContext&,
    const inference::RepositoryModelLoadRequest&) {
  return NotLoaded();
}

absl::StatusOr<inference::RepositoryModelUnloadResponse> RepositoryModelUnload(
    const Service&, CallContext&,
    const inference::RepositoryModelUnloadRequest&) {
  return NotLoaded();
}

}  // namespace

std::unique_ptr<Handler> NewRepositoryIndexHandler(const Service& service,
                                                   CallContext& context) {
  return NewImmediateHandler(service, context, RepositoryIndex);
}

std::unique_ptr<Handler> NewRepositoryModelLoadHandler(const Service& service,
                                                       CallContext& context) {
  return NewImmediateHandler(service, context, RepositoryModelLoad);
}

std::unique_ptr<Handler> NewRepositoryModelUnloadHandler(const Service& service,
                                                         CallContext& context) {
  return NewImmediateHandler(service, context, RepositoryModelUnload);
}

}  // namespace attend
