#include "server/inference/infer_task.h"

#include "server/service/tasks.h"

namespace attend {
namespace {

void Append(const TensorGroup& group, std::vector<TensorSpec>& to) {
  for (TensorSpec tensor : group.tensors) {
    if (!group.needs.empty()) tensor.needs = group.needs;
    to.push_back(tensor);
  }
}

}  // namespace

std::vector<TensorSpec> InputsOf(const InferTask& task) {
  std::vector<TensorSpec> inputs;
  for (const TensorGroup& group : task.inputs) Append(group, inputs);
  return inputs;
}

std::vector<TensorSpec> OutputsOf(const InferTask& task) {
  std::vector<TensorSpec> outputs;
  for (const TensorGroup& group : task.outputs) Append(group, outputs);
  Append({kOutcomeTensors}, outputs);
  return outputs;
}

std::vector<const InferTask*> InferTasksOf(const ServedModel& model) {
  const ModelInfo& info = model.info();
  std::vector<const InferTask*> tasks;
  if (info.generates) {
    tasks.push_back(&GenerateInferTask());
    tasks.push_back(&ScoreInferTask());
  }
  if (info.labels_tokens) {
    tasks.push_back(&ClassifyTokensInferTask());
    tasks.push_back(&ClassifySpansInferTask());
  } else if (info.classifies || info.chooses) {
    tasks.push_back(&ClassifyInferTask());
  }
  if (RanksDocuments(info)) tasks.push_back(&RerankInferTask());
  if (info.finds_spans) tasks.push_back(&AnswerInferTask());
  if (info.fills_masks) tasks.push_back(&FillMaskInferTask());
  if (info.embeds) {
    if (info.pools) tasks.push_back(&EmbedInferTask());
    tasks.push_back(&EmbedTokensInferTask());
  }
  return tasks;
}

}  // namespace attend
