#include "server/inference/infer_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/quoted.h"

namespace attend {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The parameter by which a client asks for parts; outputs of parts need it.
constexpr absl::string_view kStream = "stream";

absl::StatusOr<const InferTask*> FindTask(absl::string_view name,
                                          const ServedModel& model) {
  const std::vector<const InferTask*> tasks = InferTasksOf(model);
  if (name.empty() && !tasks.empty()) return tasks.front();
  for (const InferTask* task : tasks) {
    if (task->name == name) return task;
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "parameter 'task' is %s, the tasks of model '%s' are: %s", Quoted(name),
      model.info().name,
      absl::StrJoin(tasks, ", ", [](std::string* out, const InferTask* task) {
        absl::StrAppend(out, task->name);
      })));
}

// Whether a field of a request, or of its `params`, says more than nothing.
bool IsOn(const Message& request, absl::string_view name) {
  const auto& type = *request.GetDescriptor();
  const auto& reflection = *request.GetReflection();
  if (const auto* field = type.FindFieldByName(std::string(name))) {
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection.GetBool(request, field);
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection.GetEnumValue(request, field) > 0;
      default:
        return reflection.GetInt32(request, field) > 0;
    }
  }
  const auto* params = type.FindFieldByName("params");
  return params != nullptr &&
         IsOn(reflection.GetMessage(request, params), name);
}

bool IsThere(const TensorSpec& output, const InferPlan& plan) {
  if (output.needs.empty()) return true;
  if (output.needs == kStream) return plan.in_parts;
  return IsOn(*plan.request, output.needs);
}

absl::Status AddNamed(
    const inference::ModelInferRequest::InferRequestedOutputTensor& wanted,
    InferPlan& plan) {
  const std::string name = absl::StrCat("output ", Quoted(wanted.name()));
  for (const auto& [parameter, value] : wanted.parameters()) {
    // Contents are raw anyway, which KServe's client calls binary.
    if (parameter == "binary_data" && value.bool_param()) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: parameter %s is set, but is not supported", name,
                        Quoted(parameter)));
  }
  const std::vector<TensorSpec> all = OutputsOf(*plan.task);
  const auto found = std::find_if(
      all.begin(), all.end(),
      [&](const TensorSpec& spec) { return spec.name == wanted.name(); });
  if (found == all.end()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is unknown; the outputs of task %s are: %s", name, plan.task->name,
        absl::StrJoin(all, ", ", [](std::string* out, const TensorSpec& spec) {
          absl::StrAppend(out, spec.name);
        })));
  }
  if (!IsThere(*found, plan)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is not there without the parameter '%s'", name, found->needs));
  }
  if (std::find(plan.outputs.begin(), plan.outputs.end(), wanted.name()) !=
      plan.outputs.end()) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is there twice"));
  }
  plan.outputs.push_back(wanted.name());
  plan.tells_status |= found->only_named;
  return absl::OkStatus();
}

absl::Status ChooseOutputs(const inference::ModelInferRequest& request,
                           InferPlan& plan) {
  for (const auto& wanted : request.outputs()) {
    RETURN_IF_ERROR(AddNamed(wanted, plan));
  }
  if (!request.outputs().empty()) return absl::OkStatus();
  for (const TensorSpec& output : OutputsOf(*plan.task)) {
    if (output.only_named || !IsThere(output, plan)) continue;
    plan.outputs.emplace_back(output.name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<InferPlan> MakeInferPlan(
    const inference::ModelInferRequest& request, const Service& service,
    const ServedModel& model, bool streaming) {
  ASSIGN_OR_RETURN(RequestReader reader, RequestReader::Read(request));
  InferPlan plan;
  ASSIGN_OR_RETURN(plan.task, FindTask(reader.protocol().task, model));
  plan.in_parts = reader.protocol().stream.value_or(streaming) &&
                  plan.task->make_stream != nullptr;
  if (plan.in_parts && !streaming) {
    return absl::InvalidArgumentError(
        "parameter 'stream' is true, must be false in ModelInfer: "
        "ModelStreamInfer streams");
  }
  plan.timeout = reader.protocol().timeout;
  plan.request.reset(plan.task->request.New());
  const auto& type = *plan.request->GetDescriptor();
  const auto& reflection = *plan.request->GetReflection();
  reflection.SetString(plan.request.get(), type.FindFieldByName("model"),
                       model.info().name);
  reflection.SetInt32(plan.request.get(), type.FindFieldByName("priority"),
                      reader.protocol().priority);
  RETURN_IF_ERROR(plan.task->read(service, model, reader, *plan.request));
  RETURN_IF_ERROR(reader.TakeFields(plan.task->no_parameters, *plan.request));
  RETURN_IF_ERROR(ChooseOutputs(request, plan));
  return plan;
}

}  // namespace attend
