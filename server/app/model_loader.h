#ifndef ATTEND_SERVER_APP_MODEL_LOADER_H_
#define ATTEND_SERVER_APP_MODEL_LOADER_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "engine/tensor/mutex.h"
#include "server/app/load_models.h"
#include "server/app/model_watch.h"
#include "server/service/model_control.h"
#include "server/service/step_signal.h"

namespace attend {

// Changes models while calls run, on a separate thread, which packs
// weights concurrently with steps: Compute::LoadAlone() has been called.
class ModelLoader final : public ModelControl {
 public:
  // That wait.
  static constexpr size_t kMaxChanges = 64;

  // The objects of `to`, and `signal`, must outlive the ModelLoader.
  // With ModelControlMode::kPoll, the files of this time are those that are
  // loaded at the start.
  ModelLoader(const Loading& to, StepSignal& signal);
  // Stop().
  ~ModelLoader() override;

  // Begins with what waits. `changed` is called after each change. With
  // ModelControlMode::kPoll, models that lacked memory at the start are tried
  // again.
  void Start(std::function<void()> changed);
  // Stops starting changes. Waiting and later changes, and the current one,
  // which may take minutes, fail with UNAVAILABLE.
  void Drain();
  // After Drain(): true until the current change has ended.
  bool busy();
  // Drain(), and waits for the change under way.
  void Stop();

  absl::Status Submit(ModelChange change, Done done) override;

 private:
  struct Waiting {
    ModelChange change;
    Done done;
  };

  void Run();
  // Waits for a change, or with ModelControlMode::kPoll for the time of a look.
  // False: stopping.
  bool Wait(MutexLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Looks into models_dir, and makes what has changed there.
  void Look();
  bool stopping();
  // Make(), and `changed_`.
  absl::Status MakeAndTell(const ModelChange& change);
  // Tells everybody of a change that was made, or not.
  void Report(const Done& done, const absl::Status& status);
  absl::Status Make(const ModelChange& change);
  absl::Status Load(const ModelChange& change);
  // There is no file of the model that can be loaded. Returns `reason`.
  absl::Status ReportNoFiles(const std::string& name,
                             const absl::Status& reason);
  // Reports the name of a model in models_dir if it is invalid.
  void ReportIfBadName(const std::string& name);
  // Unloads a model without calls, but not this one. False: there is none.
  bool MakeRoom(const ModelSource& source);
  absl::Status Unload(const ModelChange& change);
  absl::Status SetAlias(const ModelChange& change);

  const Loading to_;
  StepSignal& signal_;
  std::function<void()> changed_;
  std::optional<ModelWatch> watch_;  // with ModelControlMode::kPoll
  bool readable_ = true;             // models_dir, in the last look

  Mutex mutex_;
  std::condition_variable come_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  Done under_way_ ABSL_GUARDED_BY(mutex_);  // null: nobody waits for it
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_LOADER_H_
