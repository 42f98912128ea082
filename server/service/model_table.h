#ifndef ATTEND_SERVER_SERVICE_MODEL_TABLE_H_
#define ATTEND_SERVER_SERVICE_MODEL_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/api/engine.h"
#include "engine/grammar/grammar_compiler.h"
#include "engine/tensor/mutex.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/observability/model_metrics.h"
#include "server/scheduler/scheduler.h"

namespace attend {

// One loaded model, and the objects that serve it. Everything that a
// ServedModel refers to must outlive its ModelEntry.
struct ServedModel {
  const Engine& engine;
  const Tokenizer& tokenizer;
  Scheduler& scheduler;
  ModelMetrics& metrics;
  const ChatTemplate* chat = nullptr;  // null: the model has none
  // Null: the model does not generate.
  const GrammarCompiler* grammars = nullptr;

  const ModelInfo& info() const { return engine.info(); }
};

// A model that requests may name, whether the model could be loaded or not.
struct ModelEntry {
  std::string name;
  CallMetrics& calls;
  absl::StatusOr<ServedModel> served;  // the error: why it did not load
  int64_t version = 1;

  // Whether the model takes requests, and can compute them.
  bool ready() const { return served.ok() && !served->scheduler.failing(); }
};

// A share of an entry: the entry, and all that serves the model, lives as long
// as somebody has one. Each call has one of its model.
using SharedModel = std::shared_ptr<const ModelEntry>;

// The models that calls find now. A name keeps its place when its model is
// replaced, and when it is removed and comes back. The first name is that of
// the default model. Thread-safe; no function waits.
class ModelTable {
 public:
  // Adds the model, or puts it in the place of the one of its name.
  void Put(SharedModel model);
  // False: there is no model of that name.
  bool Remove(absl::string_view name);
  void Clear();

  // The model of that name; of an empty one, the default model. Null: there is
  // none now.
  SharedModel Find(absl::string_view name) const;
  // In the order in which their names came.
  std::vector<SharedModel> All() const;

 private:
  struct Place {
    std::string name;
    SharedModel model;  // null: none now
  };

  mutable Mutex mutex_;
  std::vector<Place> places_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_MODEL_TABLE_H_
