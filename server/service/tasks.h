#ifndef ATTEND_SERVER_SERVICE_TASKS_H_
#define ATTEND_SERVER_SERVICE_TASKS_H_

#include <vector>

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"

namespace attend {

// Returns true if the model gives a pair of texts one score.
bool LabelsPairs(const ModelInfo& model);

// Returns true if the model puts documents in order.
bool RanksDocuments(const ModelInfo& model);

// What a model makes of a text, the default first.
std::vector<v1::EmbeddingKind> EmbeddingKindsOf(const ModelInfo& model);

// The tasks of a model, in the order of the enumeration.
std::vector<v1::Task> TasksOf(const ModelInfo& model);

// OK if the model has one of `tasks`. Otherwise INVALID_ARGUMENT, which names
// the model and the tasks that it has.
absl::Status CheckTask(const ModelInfo& model,
                       const std::vector<v1::Task>& tasks);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_TASKS_H_
