#ifndef ATTEND_SERVER_GRPC_HEALTH_H_
#define ATTEND_SERVER_GRPC_HEALTH_H_

#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/tensor/mutex.h"
#include "server/service/service.h"

namespace attend {

// Somebody who wants to know when health changes.
class HealthWatcher {
 public:
  // Called on the thread of Health::Tell() or TellAgain(), which waits
  // meanwhile.
  virtual void OnHealth() = 0;

 protected:
  ~HealthWatcher() = default;
};

// What grpc.health.v1 answers: for the server (""), for each gRPC service and
// for each model or alias. Thread-safe.
class Health {
 public:
  // `service` must outlive the Health; `names` are those of gRPC services.
  Health(const Service& service, std::vector<std::string> names)
      : service_(service), names_(std::move(names)) {}

  // Looks at the models, and wakes the watchers if something has changed since
  // the last call. Writes to the log which models began or ceased to fail.
  // `serving`: false while the server drains.
  void Tell(bool serving);
  // The same, with what Tell() was told last: models have come or gone.
  void TellAgain();

  // Of the server, as it was told.
  bool serving() const { return serving_; }
  // Null: there is nothing of that name.
  std::optional<bool> Find(const std::string& name) const;

  // A watcher is removed before it is destroyed; it need not have been added.
  void Add(HealthWatcher& watcher);
  void Remove(HealthWatcher& watcher);

 private:
  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_);
  // Logs and counts what has changed of a model.
  void Report(const ModelEntry& model, bool ready) const;

  const Service& service_;
  const std::vector<std::string> names_;
  std::atomic<bool> serving_{false};
  Mutex looking_;
  bool told_serving_ ABSL_GUARDED_BY(looking_) = false;
  // Which models were ready at the last look.
  std::map<std::string, bool> ready_ ABSL_GUARDED_BY(looking_);
  mutable Mutex mutex_;
  std::map<std::string, bool> told_ ABSL_GUARDED_BY(mutex_);
  std::set<HealthWatcher*> watchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HEALTH_H_
