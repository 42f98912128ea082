#include "server/app/served_models.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "engine/tensor/check.h"
#include "server/app/warm_up.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

constexpr std::chrono::seconds kReportTime(1);

absl::Status Printable(const absl::Status& status) {
  std::string message(status.message());
  std::replace_if(
      message.begin(), message.end(),
      [](char c) { return !absl::ascii_isprint(c); }, '?');
  return absl::Status(status.code(), message);
}

}  // namespace

// A model, what serves it, and its entry.
struct ServedModels::Serving {
  // For a model that could not be loaded.
  Serving(const std::string& name, const absl::Status& error,
          ServedModels& owner)
      : metrics(owner.metrics_.AddModel(name)),
        entry{.name = name, .calls = *metrics, .served = Printable(error)} {
    metrics->Break();
  }
  Serving(const std::string& name, Model loaded, int64_t version,
          ServedModels& owner)
      : metrics(owner.metrics_.AddModel(name)),
        model(std::move(loaded)),
        scheduler(std::in_place, owner.options_, *model->engine, owner.clock_,
                  owner.turns_,
                  [this, &signal = owner.step_signal_](const StepReport& step) {
                    OnStep(step);
                    signal.Notify();
                  }),
        entry{
            .name = name,
            .calls = *metrics,
            .served = ServedModel{.engine = *model->engine,
                                  .tokenizer = *model->tokenizer,
                                  .scheduler = *scheduler,
                                  .metrics = *metrics,
                                  .chat = model->chat.get(),
                                  .grammars = model->grammars.get(),
                                  .route_tokenizers = model->route_tokenizers},
            .version = version} {}

  // The name's gauges are of the model that calls find.
  void OnStep(const StepReport& step) {
    {
      MutexLock lock(levels);
      if (!published) {
        idle = step;
        reported.notify_all();
        return;
      }
      if (current) metrics->SetLevels(step);
    }
    metrics->CountStep(step);
  }
  // No request has come yet. The steps are in no metric.
  void Warm() {
    if (!WarmUp(*model->engine, *scheduler)) return;
    // The last step is reported after its request has ended; without memory it
    // is not.
    MutexLock lock(levels);
    reported.wait_for(lock, kReportTime,
                      [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(levels) {
                        return idle.rows > 0 && idle.running == 0;
                      });
  }
  // Another model has the name from now on.
  void Replace() {
    MutexLock lock(levels);
    current = false;
  }
  // No request of a client has come yet.
  void Publish() {
    MutexLock lock(levels);
    metrics->SetLevels(idle);
    published = true;
  }

  const std::shared_ptr<ModelMetrics> metrics;
  Mutex levels;
  std::condition_variable reported;
  StepReport idle ABSL_GUARDED_BY(levels);  // the last before clients' calls
  bool published ABSL_GUARDED_BY(levels) = false;
  bool current ABSL_GUARDED_BY(levels) = true;
  const std::optional<Model> model;    // none: it could not be loaded
  std::optional<Scheduler> scheduler;  // ends before its model
  const ModelEntry entry;
};

ServedModels::ServedModels(const SchedulerOptions& options, const Clock& clock,
                           Metrics& metrics, StepSignal& step_signal)
    : options_(options),
      clock_(clock),
      metrics_(metrics),
      step_signal_(step_signal) {}

ServedModels::~ServedModels() {
  table_.Clear();
  {
    MutexLock lock(mutex_);
    ATTEND_CHECK(live_.empty());
    closed_ = true;
    changed_.notify_all();
  }
  if (freeing_.joinable()) freeing_.join();
}

void ServedModels::StartFreeing() {
  freeing_ = std::thread([this] { RunFreeing(); });
}

void ServedModels::Add(const std::string& name, absl::StatusOr<Model> model,
                       int64_t version, bool warm) {
  std::shared_ptr<Serving> serving =
      model.ok()
          ? std::make_shared<Serving>(name, *std::move(model), version, *this)
          : std::make_shared<Serving>(name, model.status(), *this);
  if (warm && serving->scheduler) serving->Warm();
  const Servings all = All();
  SharedModel shared = Share(serving);
  if (serving->scheduler) {
    serving->metrics->Serve(serving->entry.served->info(), version);
  }
  // Nothing below can fail where a model is replaced.
  for (const std::shared_ptr<Serving>& before : all) {
    if (before->entry.name == name) before->Replace();
  }
  if (serving->scheduler) serving->Publish();
  table_.Put(std::move(shared));
}

bool ServedModels::Remove(absl::string_view name) {
  if (!table_.Remove(name)) return false;
  for (const std::shared_ptr<Serving>& serving : All()) {
    if (serving->entry.name == name) serving->metrics->Withdraw();
  }
  return true;
}

std::string ServedModels::RemoveIdle(absl::string_view except) {
  SharedModel removed = table_.RemoveIdle(except);
  if (removed == nullptr) return "";
  std::string name = removed->name;
  removed->served->metrics.Withdraw();
  removed.reset();
  MutexLock lock(mutex_);
  changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return retired_.empty() && !freeing_some_;
  });
  return name;
}

SharedModel ServedModels::Share(std::shared_ptr<Serving> serving) {
  const ModelEntry* const entry = &serving->entry;
  Servings::iterator place;
  {
    MutexLock lock(mutex_);
    place = live_.insert(live_.end(), std::move(serving));
  }
  return SharedModel(entry,
                     [this, place](const ModelEntry*) { Retire(place); });
}

// Called at the end of a call on a port's thread, so it neither waits for the
// scheduler's thread nor unmaps memory. Allocates nothing.
void ServedModels::Retire(Servings::iterator serving) {
  MutexLock lock(mutex_);
  retired_.splice(retired_.end(), live_, serving);
  changed_.notify_all();
}

void ServedModels::RunFreeing() {
  MutexLock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return closed_ || !retired_.empty();
    });
    if (retired_.empty()) return;
    Servings retired;
    retired.swap(retired_);
    freeing_some_ = true;
    lock.unlock();
    retired.clear();
    malloc_trim(0);
    lock.lock();
    freeing_some_ = false;
    changed_.notify_all();
  }
}

ServedModels::Servings ServedModels::All() {
  MutexLock lock(mutex_);
  Servings all = live_;
  return all;
}

int ServedModels::ready() const {
  int count = 0;
  for (const SharedModel& model : table_.All()) count += model->served.ok();
  return count;
}

}  // namespace attend
