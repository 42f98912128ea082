#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "inference/grpc_service.pb.h"
#include "server/inference/methods.h"
#include "server/inference/model_version.h"
#include "server/inference/quoted.h"
#include "server/service/immediate_handler.h"
#include "server/service/model_change_handler.h"

namespace attend {
namespace {

// A repository has a name where there are several.
absl::Status CheckRepository(const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  return absl::UnimplementedError(
      "repository_name is set, must be empty: there is one repository");
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
  RETURN_IF_ERROR(CheckRepository(request.repository_name()));
  inference::RepositoryIndexResponse response;
  for (const SharedModel& model : service.models.All()) {
    if (!context.account().MayUse(model->name)) continue;
    const std::string reason = WhyNotReady(*model);
    if (request.ready() && !reason.empty()) continue;
    auto& entry = *response.add_models();
    entry.set_name(model->name);
    entry.set_version(VersionText(*model));
    entry.set_state(reason.empty() ? "READY" : "UNAVAILABLE");
    entry.set_reason(reason);
  }
  return response;
}

// Triton's parameters replace a model's configuration and files.
absl::StatusOr<ModelChange> ReadLoad(
    const inference::RepositoryModelLoadRequest& request) {
  RETURN_IF_ERROR(CheckRepository(request.repository_name()));
  if (!request.parameters().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parameters has ", Quoted(request.parameters().begin()->first),
        ", must be empty: a model is loaded as its files say"));
  }
  return ModelChange{.kind = ModelChange::Kind::kLoad,
                     .name = request.model_name()};
}

// Its parameter unload_dependents means nothing: no model has others in it.
absl::StatusOr<ModelChange> ReadUnload(
    const inference::RepositoryModelUnloadRequest& request) {
  RETURN_IF_ERROR(CheckRepository(request.repository_name()));
  return ModelChange{.kind = ModelChange::Kind::kUnload,
                     .name = request.model_name()};
}

inference::RepositoryModelLoadResponse AnswerLoad(const ModelEntry*) {
  return {};
}

inference::RepositoryModelUnloadResponse AnswerUnload(const ModelEntry*) {
  return {};
}

// The words of a Triton that loads its models when it starts, so that clients
// find them. KServe's requests have another form; nothing of them is read.
template <class Request>
absl::StatusOr<ModelChange> RefuseChange(const Request&) {
  return absl::UnavailableError(
      "explicit model load / unload is not allowed if polling is enabled: "
      "models are loaded when the server starts");
}

template <class Request, class Response>
std::unique_ptr<Handler> NewChangeCall(
    const Service& service, CallContext& context,
    absl::StatusOr<ModelChange> (*read)(const Request&),
    Response (*answer)(const ModelEntry*)) {
  return NewModelChangeCall(
      service, context,
      service.control == nullptr ? RefuseChange<Request> : read, answer);
}

}  // namespace

std::unique_ptr<Handler> NewRepositoryIndexHandler(const Service& service,
                                                   CallContext& context) {
  return NewImmediateHandler(service, context, RepositoryIndex);
}

std::unique_ptr<Handler> NewRepositoryModelLoadHandler(const Service& service,
                                                       CallContext& context) {
  return NewChangeCall(service, context, ReadLoad, AnswerLoad);
}

std::unique_ptr<Handler> NewRepositoryModelUnloadHandler(const Service& service,
                                                         CallContext& context) {
  return NewChangeCall(service, context, ReadUnload, AnswerUnload);
}

}  // namespace attend
