#include "server/inference/infer_task.h"

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
  if (info.classifies || info.chooses) {
    tasks.push_back(info.labels_tokens ? &ClassifyTokensInferTask()
                                       : &ClassifyInferTask());
    if (!info.labels_tokens && info.labels.size() == 1) {
      tasks.push_back(&RerankInferTask());
    }
  }
  if (info.fills_masks) tasks.push_back(&FillMaskInferTask());
  if (info.embeds) {
    if (info.pools) tasks.push_back(&EmbedInferTask());
    tasks.push_back(&EmbedTokensInferTask());
  }
  return tasks;
}

}  // namespace attend
