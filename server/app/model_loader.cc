#include "server/app/model_loader.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/check.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "engine/tensor/thread_name.h"
#include "server/app/exceptions.h"
#include "server/app/model_versions.h"

namespace attend {
namespace {

// The reason for the client: it asked well, but the model's files, or the
// memory, are not as they should be.
absl::Status LoadError(const ModelSource& source, const absl::Status& reason,
                       const ModelEntry* served) {
  const std::string message = absl::StrCat(
      "model '", source.name, "' version ", source.version,
      " could not be loaded: ", reason.message(),
      served == nullptr ? ""
                        : absl::StrCat("; version ", served->version,
                                       " is served as before"));
  return absl::IsResourceExhausted(reason)
             ? absl::ResourceExhaustedError(message)
             : absl::FailedPreconditionError(message);
}

}  // namespace

ModelLoader::ModelLoader(const Loading& to, StepSignal& signal)
    : to_(to), signal_(signal) {
  std::error_code error;  // then all that is found later is new
  ModelListing now = ListModelFiles(to.options.model_options.models_dir,
                                    to.options.models, error);
  for (const auto& model : now) ReportIfBadName(model.first);
  if (to.options.model_control != ModelControlMode::kPoll) return;
  // Models added since the options were read are new, too.
  std::erase_if(now, [&](const auto& model) {
    return CheckModelName(model.first).ok() &&
           std::none_of(to.options.models.begin(), to.options.models.end(),
                        [&](const ModelSource& source) {
                          return source.name == model.first &&
                                 source.version == model.second.version;
                        });
  });
  watch_.emplace(std::move(now));
}

ModelLoader::~ModelLoader() { Stop(); }

void ModelLoader::Start(std::function<void()> changed) {
  changed_ = std::move(changed);
  if (watch_) {
    for (const SharedModel& model : to_.models.table().All()) {
      if (absl::IsResourceExhausted(model->served.status())) {
        watch_->TryAgain(model->name);
      }
    }
  }
  thread_ = std::thread([this] { Run(); });
}

void ModelLoader::Drain() {
  std::deque<Waiting> refused;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    refused.swap(waiting_);
    if (under_way_ != nullptr) {
      refused.push_front({{}, std::exchange(under_way_, nullptr)});
    }
    come_.notify_one();
  }
  for (const Waiting& one : refused) {
    Report(one.done, absl::UnavailableError("server is draining"));
  }
}

void ModelLoader::Stop() {
  Drain();
  if (thread_.joinable()) thread_.join();
}

void ModelLoader::Report(const Done& done, const absl::Status& status) {
  // Without memory the call ends by its deadline.
  CatchOutOfMemory([&] {
    return done(status), absl::OkStatus();
  }).IgnoreError();
  signal_.Notify();
}

absl::Status ModelLoader::Submit(ModelChange change, Done done) {
  MutexLock lock(mutex_);
  if (stopping_) return absl::UnavailableError("server is draining");
  if (waiting_.size() >= kMaxChanges) {
    return absl::ResourceExhaustedError(absl::StrCat(
        kMaxChanges, " changes of models wait already, no more may"));
  }
  waiting_.push_back({std::move(change), std::move(done)});
  come_.notify_one();
  return absl::OkStatus();
}

bool ModelLoader::busy() {
  MutexLock lock(mutex_);
  return busy_;
}

void ModelLoader::Run() {
  NameThread("loader");
  MutexLock lock(mutex_);
  while (Wait(lock)) {
    busy_ = true;
    if (waiting_.empty()) {
      lock.unlock();
      Look();
    } else {
      const ModelChange change = std::move(waiting_.front().change);
      under_way_ = std::move(waiting_.front().done);
      waiting_.pop_front();
      lock.unlock();
      const absl::Status made = MakeAndTell(change);
      lock.lock();
      const Done done = std::exchange(under_way_, nullptr);
      lock.unlock();
      if (done != nullptr) Report(done, made);  // else Drain() has told
    }
    lock.lock();
    busy_ = false;
  }
}

bool ModelLoader::Wait(MutexLock& lock) {
  const auto come = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !waiting_.empty();
  };
  if (watch_) {
    come_.wait_for(
        lock, absl::ToChronoNanoseconds(to_.options.model_poll_interval), come);
  } else {
    come_.wait(lock, come);
  }
  return !stopping_;
}

void ModelLoader::Look() {
  std::error_code error;
  const absl::Status status = CatchExceptions([&] {
    ModelListing now = ListModelFiles(to_.options.model_options.models_dir,
                                      to_.options.models, error);
    // A volume that is not mounted looks as if all models had gone.
    if (error || now.empty()) return absl::OkStatus();
    for (const ModelChange& change : watch_->Look(std::move(now))) {
      if (stopping()) break;
      if (!CheckModelName(change.name).ok()) {
        if (change.kind == ModelChange::Kind::kLoad) {
          ReportIfBadName(change.name);
        }
        continue;
      }
      // Failures have been logged.
      const absl::Status made = MakeAndTell(change);
      if (absl::IsResourceExhausted(made)) watch_->TryAgain(change.name);
    }
    return absl::OkStatus();
  });
  const std::string reason =
      error ? error.message() : std::string(status.message());
  if (!reason.empty() && readable_) {
    ReportNoFiles("", absl::FailedPreconditionError(
                          absl::StrCat("models_dir cannot be read: ", reason)))
        .IgnoreError();
  }
  readable_ = reason.empty();
}

bool ModelLoader::stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

absl::Status ModelLoader::MakeAndTell(const ModelChange& change) {
  const absl::Status status = CatchExceptions([&] { return Make(change); });
  // Without memory, health looks again in a while.
  CatchOutOfMemory([&] { return changed_(), absl::OkStatus(); }).IgnoreError();
  return status;
}

absl::Status ModelLoader::Make(const ModelChange& change) {
  switch (change.kind) {
    case ModelChange::Kind::kLoad:
      return Load(change);
    case ModelChange::Kind::kUnload:
      return Unload(change);
    case ModelChange::Kind::kSetAlias:
      return SetAlias(change);
  }
  ATTEND_CHECK(false);
}

absl::Status ModelLoader::Load(const ModelChange& change) {
  absl::StatusOr<ModelSource> found =
      FindModel(to_.options.models, to_.options.model_options.models_dir,
                change.name, change.version);
  if (absl::IsFailedPrecondition(found.status())) {
    return ReportNoFiles(change.name, found.status());
  }
  ASSIGN_OR_RETURN(ModelSource source, std::move(found));
  const absl::Status status =
      LoadOne(to_, source, [&] { return MakeRoom(source); });
  if (status.ok()) return status;
  const absl::Status reason = ReportFailure(to_, source, status);
  const SharedModel before = to_.models.table().Find(source.name);
  const bool serves = before != nullptr && before->served.ok();
  // Calls of a model that never could be loaded get the new reason.
  if (before != nullptr && !serves) to_.models.Add(source.name, reason);
  to_.metrics.OnLoad(source.name, false);
  return LoadError(source, reason, serves ? before.get() : nullptr);
}

absl::Status ModelLoader::ReportNoFiles(const std::string& name,
                                        const absl::Status& reason) {
  to_.log.Write(LogLevel::kError, "model_failed",
                {{"model", name}, {"error", reason.message()}});
  to_.metrics.OnLoad(name, false);
  return reason;
}

void ModelLoader::ReportIfBadName(const std::string& name) {
  const absl::Status named = CheckModelName(name);
  if (!named.ok()) ReportNoFiles(name, named).IgnoreError();
}

bool ModelLoader::MakeRoom(const ModelSource& source) {
  if (!to_.options.idle_unload) return false;
  const std::string idle = to_.models.RemoveIdle(source.name);
  if (idle.empty()) return false;
  to_.log.Write(LogLevel::kInfo, "unloaded",
                {{"model", idle}, {"for", source.name}});
  return true;
}

absl::Status ModelLoader::Unload(const ModelChange& change) {
  if (!to_.models.Remove(change.name)) {
    return absl::NotFoundError(
        absl::StrCat("model '", absl::CHexEscape(change.name.substr(0, 100)),
                     "' is not served"));
  }
  to_.log.Write(LogLevel::kInfo, "unloaded", {{"model", change.name}});
  return absl::OkStatus();
}

absl::Status ModelLoader::SetAlias(const ModelChange& change) {
  RETURN_IF_ERROR(CheckModelName(change.name));
  RETURN_IF_ERROR(to_.models.SetAlias({change.name, change.targets}));
  const std::string targets = absl::StrJoin(
      change.targets, ",", [](std::string* out, const AliasTarget& target) {
        absl::StrAppend(out, target.model, ":", target.weight);
      });
  to_.log.Write(LogLevel::kInfo, "alias_set",
                {{"alias", change.name}, {"targets", targets}});
  return absl::OkStatus();
}

}  // namespace attend
