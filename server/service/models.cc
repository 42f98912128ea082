#include <memory>

#include "engine/tensor/status_macros.h"
#include "server/service/describe_model.h"
#include "server/service/immediate_handler.h"
#include "server/service/methods.h"

namespace attend {
namespace {

absl::StatusOr<v1::ListModelsResponse> ListModels(
    const Service& service, CallContext& context,
    const v1::ListModelsRequest&) {
  v1::ListModelsResponse response;
  for (const SharedModel& model : service.models.All()) {
    if (!context.account().MayUse(model->name)) continue;
    *response.add_models() = DescribeModel(*model);
  }
  for (const ModelAlias& alias : service.models.Aliases()) {
    if (!context.account().MayUse(alias.name)) continue;
    v1::Alias& entry = *response.add_aliases();
    entry.set_name(alias.name);
    for (const AliasTarget& target : alias.targets) {
      v1::AliasTarget& part = *entry.add_targets();
      part.set_model(target.model);
      part.set_weight(target.weight);
    }
  }
  return response;
}

absl::StatusOr<v1::Model> GetModel(const Service& service, CallContext& context,
                                   const v1::GetModelRequest& request) {
  ASSIGN_OR_RETURN(const ModelEntry* entry,
                   service.FindEntry(request.name(), context));
  return DescribeModel(*entry);
}

}  // namespace

std::unique_ptr<Handler> NewListModelsHandler(const Service& service,
                                              CallContext& context) {
  return NewImmediateHandler(service, context, ListModels);
}

std::unique_ptr<Handler> NewGetModelHandler(const Service& service,
                                            CallContext& context) {
  return NewImmediateHandler(service, context, GetModel);
}

}  // namespace attend
