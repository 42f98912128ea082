#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"
#include "inference/grpc_service.pb.h"
#include "server/inference/datatype.h"
#include "server/inference/infer_task.h"
#include "server/inference/methods.h"
#include "server/inference/model_version.h"
#include "server/scheduler/request.h"
#include "server/service/immediate_handler.h"

namespace attend {
namespace {

// The outputs that each request has: tools ask for all that are listed.
std::vector<TensorSpec> ListedOutputs(const InferTask& task) {
  std::vector<TensorSpec> listed;
  for (const TensorSpec& output : OutputsOf(task)) {
    if (output.needs.empty() && !output.only_named) listed.push_back(output);
  }
  return listed;
}

std::string PlatformOf(const ModelInfo& info) {
  return absl::StrCat("attend_", info.family);
}

// Limits that are not 0, and what else a client may want to know.
std::map<std::string, std::string> PropertiesOf(const ServedModel& model) {
  const ModelInfo& info = model.info();
  std::map<std::string, std::string> properties = {
      {"family", info.family},
      {"dtype", info.dtype},
      {"tasks", absl::StrJoin(InferTasksOf(model), ",",
                              [](std::string* out, const InferTask* task) {
                                absl::StrAppend(out, task->name);
                              })}};
  const std::pair<const char*, int> numbers[] = {
      {"max_source_tokens", info.max_source_tokens},
      {"max_target_tokens", info.max_target_tokens},
      {"max_text_tokens", info.max_text_tokens},
      {"max_beams", info.generates ? info.max_beams : 0},
      {"embedding_width", info.embedding_width},
      {"token_width", info.token_width}};
  for (const auto& [name, number] : numbers) {
    if (number > 0) properties[name] = absl::StrCat(number);
  }
  return properties;
}

absl::StatusOr<inference::ModelReadyResponse> ModelReady(
    const Service& service, CallContext& context,
    const inference::ModelReadyRequest& request) {
  ASSIGN_OR_RETURN(
      const ModelEntry* entry,
      FindVersion(service, context, request.name(), request.version()));
  inference::ModelReadyResponse response;
  response.set_ready(entry->ready());
  return response;
}

void Describe(const TensorSpec& spec,
              inference::ModelMetadataResponse::TensorMetadata& tensor) {
  tensor.set_name(std::string(spec.name));
  tensor.set_datatype(std::string(spec.datatype));
  tensor.mutable_shape()->Add(spec.shape.begin(), spec.shape.end());
}

absl::StatusOr<inference::ModelMetadataResponse> ModelMetadata(
    const Service& service, CallContext& context,
    const inference::ModelMetadataRequest& request) {
  ASSIGN_OR_RETURN(
      const ModelEntry* entry,
      FindServedVersion(service, context, request.name(), request.version()));
  const ServedModel& model = *entry->served;
  inference::ModelMetadataResponse response;
  response.set_name(model.info().name);
  response.add_versions(VersionText(*entry));
  response.set_platform(PlatformOf(model.info()));
  for (const auto& [name, value] : PropertiesOf(model)) {
    (*response.mutable_properties())[name] = value;
  }
  const std::vector<const InferTask*> tasks = InferTasksOf(model);
  if (tasks.empty()) return response;
  for (const TensorSpec& spec : InputsOf(*tasks.front())) {
    Describe(spec, *response.add_inputs());
  }
  for (const TensorSpec& spec : ListedOutputs(*tasks.front())) {
    Describe(spec, *response.add_outputs());
  }
  return response;
}

// A tensor as a configuration has it: without the dimension of the batch.
template <class Tensor>
void Configure(const TensorSpec& spec, Tensor& tensor) {
  tensor.set_name(std::string(spec.name));
  tensor.set_data_type(FindDatatype(spec.datatype)->config);
  tensor.mutable_dims()->Add(spec.shape.begin() + 1, spec.shape.end());
}

void ConfigureTask(const InferTask& task, inference::ModelConfig& config) {
  for (const TensorSpec& spec : InputsOf(task)) {
    inference::ModelInput& input = *config.add_input();
    Configure(spec, input);
    input.set_optional(spec.optional);
  }
  for (const TensorSpec& spec : ListedOutputs(task)) {
    Configure(spec, *config.add_output());
  }
  config.mutable_model_transaction_policy()->set_decoupled(task.make_stream !=
                                                           nullptr);
}

absl::StatusOr<inference::ModelConfigResponse> ModelConfig(
    const Service& service, CallContext& context,
    const inference::ModelConfigRequest& request) {
  ASSIGN_OR_RETURN(
      const ModelEntry* entry,
      FindServedVersion(service, context, request.name(), request.version()));
  const ServedModel& model = *entry->served;
  inference::ModelConfigResponse response;
  inference::ModelConfig& config = *response.mutable_config();
  config.set_name(model.info().name);
  config.set_platform(PlatformOf(model.info()));
  config.set_backend("attend");
  config.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  config.set_max_batch_size(model.info().generates
                                ? service.max_batch_inputs
                                : static_cast<int>(service.max_many_inputs()));
  auto& batching = *config.mutable_dynamic_batching();
  batching.set_priority_levels(2 * kMaxPriority + 1);
  batching.set_default_priority_level(kMaxPriority + 1);
  for (const auto& [name, value] : PropertiesOf(model)) {
    (*config.mutable_parameters())[name].set_string_value(value);
  }
  const std::vector<const InferTask*> tasks = InferTasksOf(model);
  if (!tasks.empty()) ConfigureTask(*tasks.front(), config);
  return response;
}

}  // namespace

std::unique_ptr<Handler> NewModelReadyHandler(const Service& service,
                                              CallContext& context) {
  return NewImmediateHandler(service, context, ModelReady);
}

std::unique_ptr<Handler> NewModelMetadataHandler(const Service& service,
                                                 CallContext& context) {
  return NewImmediateHandler(service, context, ModelMetadata);
}

std::unique_ptr<Handler> NewModelConfigHandler(const Service& service,
                                               CallContext& context) {
  return NewImmediateHandler(service, context, ModelConfig);
}

}  // namespace attend
