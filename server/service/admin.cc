// LoadModel and UnloadModel of attend.v1.Admin.

#include "attend/v1/attend.pb.h"
#include "server/service/describe_model.h"
#include "server/service/methods.h"
#include "server/service/model_change_handler.h"

namespace attend {
namespace {

absl::StatusOr<ModelChange> ReadLoad(const v1::LoadModelRequest& request) {
  return ModelChange{.kind = ModelChange::Kind::kLoad,
                     .name = request.name(),
                     .version = request.version()};
}

v1::LoadModelResponse AnswerLoad(const ModelEntry* model) {
  v1::LoadModelResponse response;
  if (model != nullptr) *response.mutable_model() = DescribeModel(*model);
  return response;
}

absl::StatusOr<ModelChange> ReadUnload(const v1::UnloadModelRequest& request) {
  return ModelChange{.kind = ModelChange::Kind::kUnload,
                     .name = request.name()};
}

v1::UnloadModelResponse AnswerUnload(const ModelEntry*) { return {}; }

}  // namespace

std::unique_ptr<Handler> NewLoadModelHandler(const Service& service,
                                             CallContext& context) {
  return NewModelChangeCall(service, context, ReadLoad, AnswerLoad);
}

std::unique_ptr<Handler> NewUnloadModelHandler(const Service& service,
                                               CallContext& context) {
  return NewModelChangeCall(service, context, ReadUnload, AnswerUnload);
}

}  // namespace attend
