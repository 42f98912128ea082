#include "server/app/model_loader.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
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

ModelLoader::~ModelLoader() { Stop(); }

void ModelLoader::Start(std::function<void()> changed) {
  changed_ = std::move(changed);
  thread_ = std::thread([this] { Run(); });
}

void ModelLoader::Drain() {
  std::deque<Waiting> refused;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    refused.swap(waiting_);
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

void ModelLoader::Run() {
  MutexLock lock(mutex_);
  while (true) {
    come_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stopping_ || !waiting_.empty();
    });
    if (stopping_) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const absl::Status status =
        CatchExceptions([&] { return Make(next.change); });
    // Without memory, health looks again in a while.
    CatchOutOfMemory([&] {
      return changed_(), absl::OkStatus();
    }).IgnoreError();
    Report(next.done, status);
    lock.lock();
  }
}

absl::Status ModelLoader::Make(const ModelChange& change) {
  return change.kind == ModelChange::Kind::kLoad ? Load(change)
                                                 : Unload(change);
}

absl::Status ModelLoader::Load(const ModelChange& change) {
  absl::StatusOr<ModelSource> found =
      FindModel(to_.options.models, to_.options.model_options.models_dir,
                change.name, change.version);
  if (absl::IsFailedPrecondition(found.status())) {
    to_.log.Write(
        LogLevel::kError, "model_failed",
        {{"model", change.name}, {"error", found.status().message()}});
  }
  ASSIGN_OR_RETURN(ModelSource source, std::move(found));
  const absl::Status status = LoadOne(to_, source);
  if (status.ok()) return status;
  const absl::Status reason = ReportFailure(to_, source, status);
  const SharedModel before = to_.models.table().Find(source.name);
  const bool serves = before != nullptr && before->served.ok();
  // Who asks for a model that never could be loaded learns the new reason.
  if (before != nullptr && !serves) to_.models.Add(source.name, reason);
  return LoadError(source, reason, serves ? before.get() : nullptr);
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

}  // namespace attend
