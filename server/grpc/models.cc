#include <memory>

#include "engine/tensor/status_macros.h"
#include "server/grpc/immediate_handler.h"
#include "server/grpc/params.h"
#include "server/grpc/service.h"

namespace attend {
namespace {

v1::Model Describe(const ModelInfo& info) {
  v1::Model model;
  model.set_name(info.name);
  model.set_family(info.family);
  model.set_dtype(info.dtype);
  model.set_ready(true);
  model.set_source_vocab(info.source_vocab);
  model.set_target_vocab(info.target_vocab);
  model.set_max_source_tokens(info.max_source_tokens);
  model.set_max_target_tokens(info.max_target_tokens);
  model.set_max_beams(info.max_beams);
  *model.mutable_defaults() = DescribeParams(info.generation);
  return model;
}

absl::StatusOr<v1::Model> GetModel(const Service& service,
                                   const v1::GetModelRequest& request) {
  RETURN_IF_ERROR(service.CheckModel(request.name()));
  return Describe(service.model());
}

}  // namespace

HandlerPtr<v1::ListModelsRequest, v1::ListModelsResponse> NewListModelsHandler(
    const Service& service, CallContext&) {
  return std::make_unique<
      ImmediateHandler<v1::ListModelsRequest, v1::ListModelsResponse>>(
      [&service](const v1::ListModelsRequest&) {
        v1::ListModelsResponse response;
        *response.add_models() = Describe(service.model());
        return response;
      });
}

HandlerPtr<v1::GetModelRequest, v1::Model> NewGetModelHandler(
    const Service& service, CallContext&) {
  return std::make_unique<ImmediateHandler<v1::GetModelRequest, v1::Model>>(
      [&service](const auto& request) { return GetModel(service, request); });
}

}  // namespace attend
