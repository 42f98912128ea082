#ifndef ATTEND_SERVER_SERVICE_MODEL_TABLE_H_
#define ATTEND_SERVER_SERVICE_MODEL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/api/engine.h"
#include "engine/grammar/grammar_compiler.h"
#include "engine/tensor/mutex.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/observability/model_metrics.h"
#include "server/scheduler/scheduler.h"
#include "server/service/model_alias.h"

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
  // See Model::route_tokenizers.
  absl::Span<const std::shared_ptr<const Tokenizer>> route_tokenizers = {};

  const ModelInfo& info() const { return engine.info(); }
  // The tokenizer of the texts of a route.
  const Tokenizer& TokenizerOf(int route) const {
    const bool own = static_cast<size_t>(route) < route_tokenizers.size() &&
                     route_tokenizers[route] != nullptr;
    return own ? *route_tokenizers[route] : tokenizer;
  }
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

// The models that calls find now, and the aliases of their names. A name keeps
// its place when its model is replaced, and when it is removed and comes back.
// The first name is that of the default model. Thread-safe; no function waits.
class ModelTable {
 public:
  static constexpr size_t kMaxAliases = 256;

  // Adds the model, or puts it in the place of the one of its name.
  void Put(SharedModel model);
  // False: there is no model of that name.
  bool Remove(absl::string_view name);
  void Clear();

  // Adds the alias, or puts it in the place of the one of its name; without
  // targets, removes that one. NOT_FOUND: there is none to remove, or no model
  // of a target's name. RESOURCE_EXHAUSTED: there are kMaxAliases others. Else
  // as CheckTargets().
  absl::Status SetAlias(ModelAlias alias);
  // Sorted by name.
  std::vector<ModelAlias> Aliases() const;

  // The name of the default model. Empty: there never was a model.
  std::string DefaultName() const;
  // The model that a call of that name gets. Of an alias's targets one that is
  // ready; if none is, one that is there. Counts the call of an alias in the
  // model's metrics. Null: there is none now.
  SharedModel Choose(absl::string_view name) const;
  // The model of that name itself, whatever alias has the name; of an empty
  // one, the default model. Null: there is none now.
  SharedModel Find(absl::string_view name) const;
  // Removes, of the models that nobody else has a share of, the one that calls
  // got longest ago, but not that of the name `except`. Null: there is none.
  SharedModel RemoveIdle(absl::string_view except);
  // In the order in which their names came.
  std::vector<SharedModel> All() const;

 private:
  struct Place {
    std::string name;
    SharedModel model;  // null: none now
    mutable uint64_t last_use = 0;
  };

  struct Alias {
    std::vector<AliasTarget> targets;
    mutable uint64_t calls = 0;
  };

  // Null: there is no model there.
  const Place* FindHere(absl::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The one for the alias's next call.
  const Place* ChooseTarget(const Alias& alias) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::vector<Place> places_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Alias, std::less<>> aliases_ ABSL_GUARDED_BY(mutex_);
  mutable uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_MODEL_TABLE_H_
