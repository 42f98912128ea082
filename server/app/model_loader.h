#ifndef ATTEND_SERVER_APP_MODEL_LOADER_H_
#define ATTEND_SERVER_APP_MODEL_LOADER_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "engine/tensor/mutex.h"
#include "server/app/load_models.h"
#include "server/service/model_control.h"
#include "server/service/step_signal.h"

namespace attend {

// Makes changes of models while calls run, on a thread of its own, which packs
// weights beside the steps: Compute::LoadAlone() has been called.
class ModelLoader final : public ModelControl {
 public:
  // That wait.
  static constexpr size_t kMaxChanges = 64;

  // What `to` refers to, and `signal`, must outlive the ModelLoader.
  ModelLoader(const Loading& to, StepSignal& signal)
      : to_(to), signal_(signal) {}
  // Stop().
  ~ModelLoader() override;

  // Begins with what waits. `changed` is called after each change.
  void Start(std::function<void()> changed);
  // From now on only the change under way is made: those that wait, and those
  // to come, fail with UNAVAILABLE.
  void Drain();
  // Drain(), and waits for the change under way.
  void Stop();

  absl::Status Submit(ModelChange change, Done done) override;

 private:
  struct Waiting {
    ModelChange change;
    Done done;
  };

  void Run();
  // Tells everybody of a change that was made, or not.
  void Report(const Done& done, const absl::Status& status);
  absl::Status Make(const ModelChange& change);
  absl::Status Load(const ModelChange& change);
  absl::Status Unload(const ModelChange& change);

  const Loading to_;
  StepSignal& signal_;
  std::function<void()> changed_;

  Mutex mutex_;
  std::condition_variable come_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_LOADER_H_
