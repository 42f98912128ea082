#include "server/inference/infer_task.h"

namespace attend {

std::vector<const InferTask*> InferTasksOf(const ServedModel& model) {
  const ModelInfo& info = model.info();
  std::vector<const InferTask*> tasks;
  if (info.generates) {
    tasks.push_back(&GenerateInferTask());
    tasks.push_back(&ScoreInferTask());
  }
  if (info.classifies) {
    tasks.push_back(info.labels_tokens ? &ClassifyTokensInferTask()
                                       : &ClassifyInferTask());
    if (!info.labels_tokens && info.labels.size() == 1) {
      tasks.push_back(&RerankInferTask());
    }
  }
  if (info.fills_masks) tasks.push_back(&FillMaskInferTask());
  if (info.embeds) {
    tasks.push_back(&EmbedInferTask());
    tasks.push_back(&EmbedTokensInferTask());
  }
  return tasks;
}

}  // namespace attend
