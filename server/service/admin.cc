// The methods of attend.v1.Admin.

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

absl::StatusOr<ModelChange> ReadAlias(const v1::SetAliasRequest& request) {
  ModelChange change = {.kind = ModelChange::Kind::kSetAlias,
                        .name = request.name()};
  for (const v1::AliasTarget& target : request.targets()) {
    change.targets.push_back(
        {.model = target.model(),
         .weight = target.has_weight() ? target.weight() : 1});
  }
  return change;
}

v1::SetAliasResponse AnswerAlias(const ModelEntry*) { return {}; }

}  // namespace

std::unique_ptr<Handler> NewLoadModelHandler(const Service& service,
                                             CallContext& context) {
  return NewModelChangeCall(service, context, ReadLoad, AnswerLoad);
}

std::unique_ptr<Handler> NewUnloadModelHandler(const Service& service,
                                               CallContext& context) {
  return NewModelChangeCall(service, context, ReadUnload, AnswerUnload);
}

std::unique_ptr<Handler> NewSetAliasHandler(const Service& service,
                                            CallContext& context) {
  return NewModelChangeCall(service, context, ReadAlias, AnswerAlias);
}

}  // namespace attend
