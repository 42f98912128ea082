#ifndef ATTEND_SERVER_APP_SERVED_MODELS_H_
#define ATTEND_SERVER_APP_SERVED_MODELS_H_

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/runtime/model.h"
#include "engine/tensor/mutex.h"
#include "server/observability/metrics.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/turns.h"
#include "server/service/model_table.h"
#include "server/service/step_signal.h"

namespace attend {

// The models of this process. Each has a scheduler of its own: a queue, limits
// and a worker. The workers take turns, because the engines share one Compute.
// A model that could not be loaded has an entry too, with the reason why.
//
// Models come and go while calls run. One that is replaced or removed serves
// the calls that it has; when the last of them has ended, its memory goes back.
// Thread-safe, but one thread at a time adds and removes.
class ServedModels {
 public:
  // The arguments must outlive the ServedModels. `options` are those of each
  // model.
  ServedModels(const SchedulerOptions& options, const Clock& clock,
               Metrics& metrics, StepSignal& step_signal);
  // No call may have a model any more.
  ~ServedModels();

  // Starts the thread that gives memory back. Without it that happens in the
  // end.
  void StartFreeing();

  // Adds a model, or the reason why it could not be loaded, replacing the model
  // of that name. The model then accepts requests. Clients see the reason, with
  // '?' in place of characters that are not printable ASCII. `warm`: the model
  // computes a short request first; see WarmUp(). The replaced model serves in
  // the meantime.
  void Add(const std::string& name, absl::StatusOr<Model> model,
           int64_t version = 1, bool warm = false);
  // New calls do not find the model any more. False: there is none.
  bool Remove(absl::string_view name);

  // ModelTable::RemoveIdle(), once its memory has gone back. Its name; empty:
  // there is none. After StartFreeing().
  std::string RemoveIdle(absl::string_view except);
  // ModelTable::SetAlias().
  absl::Status SetAlias(ModelAlias alias) {
    return table_.SetAlias(std::move(alias));
  }

  // The models as calls see them.
  const ModelTable& table() const { return table_; }
  // The number of models that take requests.
  int ready() const;

 private:
  struct Serving;
  using Servings = std::list<std::shared_ptr<Serving>>;

  Servings All();
  // Makes the model's entry, of which calls may have shares.
  SharedModel Share(std::shared_ptr<Serving> serving);
  // The last share of the entry has gone.
  void Retire(Servings::iterator serving);
  void RunFreeing();

  const SchedulerOptions options_;
  const Clock& clock_;
  Metrics& metrics_;
  StepSignal& step_signal_;
  Turns turns_;
  ModelTable table_;

  Mutex mutex_;
  std::condition_variable changed_;
  Servings live_ ABSL_GUARDED_BY(mutex_);     // their entries are in use
  Servings retired_ ABSL_GUARDED_BY(mutex_);  // to be freed
  bool freeing_some_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread freeing_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SERVED_MODELS_H_
