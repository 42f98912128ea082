#include "server/grpc/health.h"

#include <algorithm>

#include "server/observability/log.h"

namespace attend {

void Health::Tell(bool serving) {
  MutexLock lock(looking_);
  told_serving_ = serving;
  Look();
}

void Health::TellAgain() {
  MutexLock lock(looking_);
  Look();
}

void Health::Look() {
  const bool serving = told_serving_;
  std::map<std::string, bool> ready, now;
  bool any = false;
  for (const SharedModel& model : service_.models.All()) {
    const bool is_ready = model->ready();
    any |= is_ready;
    ready[model->name] = is_ready;
    now[model->name] = serving && is_ready;
    const auto before = ready_.find(model->name);
    if (serving && before != ready_.end() && before->second != is_ready) {
      Report(*model, is_ready);
    }
  }
  for (const ModelAlias& alias : service_.models.Aliases()) {
    now[alias.name] =
        serving && std::any_of(alias.targets.begin(), alias.targets.end(),
                               [&](const AliasTarget& target) {
                                 const auto found = ready.find(target.model);
                                 return found != ready.end() && found->second;
                               });
  }
  ready_ = std::move(ready);
  serving_ = serving && any;
  now[""] = serving_;
  for (const std::string& name : names_) now[name] = serving_;
  MutexLock lock(mutex_);
  if (told_ == now) return;
  told_ = std::move(now);
  for (HealthWatcher* watcher : watchers_) watcher->OnHealth();
}

void Health::Report(const ModelEntry& model, bool ready) const {
  if (!model.served.ok()) return;
  model.served->metrics.SetReady(ready);
  service_.log.Write(ready ? LogLevel::kInfo : LogLevel::kWarning,
                     ready ? "model_recovered" : "model_failing",
                     {{"model", model.name}});
}

std::optional<bool> Health::Find(const std::string& name) const {
  MutexLock lock(mutex_);
  const auto found = told_.find(name);
  if (found == told_.end()) return std::nullopt;
  return found->second;
}

void Health::Add(HealthWatcher& watcher) {
  MutexLock lock(mutex_);
  watchers_.insert(&watcher);
}

void Health::Remove(HealthWatcher& watcher) {
  MutexLock lock(mutex_);
  watchers_.erase(&watcher);
}

}  // namespace attend
