#include "server/service/tasks.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "server/service/zero_shot.h"

namespace attend {
namespace {

// "classify tokens"
std::string Words(v1::Task task) {
  std::string words = absl::AsciiStrToLower(v1::Task_Name(task));
  return absl::StrReplaceAll(words, {{"task_", ""}, {"_", " "}});
}

std::string Join(const std::vector<v1::Task>& tasks, const char* separator) {
  return absl::StrJoin(tasks, separator, [](std::string* out, v1::Task task) {
    absl::StrAppend(out, Words(task));
  });
}

}  // namespace

bool LabelsPairs(const ModelInfo& model) {
  return model.classifies && !model.labels_tokens && model.labels.size() == 1;
}

bool RanksDocuments(const ModelInfo& model) {
  return model.token_vectors.width > 0 || LabelsPairs(model);
}

std::vector<v1::EmbeddingKind> EmbeddingKindsOf(const ModelInfo& model) {
  std::vector<v1::EmbeddingKind> kinds;
  if (!model.embeds) return kinds;
  if (model.pools) kinds.push_back(v1::EMBEDDING_KIND_DENSE);
  if (model.weighs_tokens) kinds.push_back(v1::EMBEDDING_KIND_SPARSE);
  if (model.token_vectors.width > 0) {
    kinds.push_back(v1::EMBEDDING_KIND_MULTI_VECTOR);
  }
  return kinds;
}

std::vector<v1::Task> TasksOf(const ModelInfo& model) {
  std::vector<v1::Task> tasks;
  if (model.generates) tasks.push_back(v1::TASK_GENERATE);
  if (model.embeds) tasks.push_back(v1::TASK_EMBED);
  if (model.classifies) {
    tasks.push_back(model.labels_tokens ? v1::TASK_CLASSIFY_TOKENS
                                        : v1::TASK_CLASSIFY);
  }
  if (model.fills_masks) tasks.push_back(v1::TASK_FILL_MASK);
  if (RanksDocuments(model)) tasks.push_back(v1::TASK_RERANK);
  if (FindInferenceLabels(model)) tasks.push_back(v1::TASK_ZERO_SHOT);
  if (model.chooses) tasks.push_back(v1::TASK_CHOOSE);
  if (model.finds_spans) tasks.push_back(v1::TASK_ANSWER);
  return tasks;
}

absl::Status CheckTask(const ModelInfo& model,
                       const std::vector<v1::Task>& tasks) {
  const std::vector<v1::Task> able = TasksOf(model);
  for (const v1::Task task : tasks) {
    if (std::find(able.begin(), able.end(), task) != able.end()) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("model '%s' cannot %s; it can %s", model.name,
                      Join(tasks, " or "), Join(able, ", ")));
}

}  // namespace attend
