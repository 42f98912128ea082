#include "server/service/model_change_handler.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/mutex.h"

namespace attend {

// What the call and the control share.
struct ModelChangeHandler::Outcome {
  void Set(const absl::Status& result) {
    MutexLock lock(mutex);
    status = result;
    if (waiting == nullptr) return;
    MutexLock call(waiting->mutex());
    waiting->WakeAfterStep();
  }

  Mutex mutex;
  // Null: the call does not wait any more.
  CallContext* waiting ABSL_GUARDED_BY(mutex) = nullptr;
  std::optional<absl::Status> status ABSL_GUARDED_BY(mutex);
};

absl::StatusOr<int> ModelChangeHandler::Start(
    const google::protobuf::Message& request) {
  ASSIGN_OR_RETURN(ModelChange change, Read(request));
  RETURN_IF_ERROR(CheckRights(change));
  name_ = change.name;
  auto outcome = std::make_shared<Outcome>();
  {
    MutexLock lock(outcome->mutex);
    outcome->waiting = &context_;
  }
  RETURN_IF_ERROR(service_.control->Submit(
      std::move(change),
      [outcome](const absl::Status& status) { outcome->Set(status); }));
  outcome_ = std::move(outcome);
  return 0;
}

absl::Status ModelChangeHandler::CheckRights(const ModelChange& change) const {
  if (service_.control == nullptr) {
    return absl::FailedPreconditionError(
        "calls change no models: model_control is not explicit");
  }
  if (service_.tenants != nullptr && !context_.account().administrator()) {
    return absl::PermissionDeniedError(
        absl::StrCat("tenant '", context_.account().name(),
                     "' is no administrator, who alone may change models"));
  }
  if (!change.name.empty() && change.version >= 0) {
    for (const AliasTarget& target : change.targets) {
      RETURN_IF_ERROR(context_.account().CheckModel(target.model));
    }
    return context_.account().CheckModel(change.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("name is '", absl::CHexEscape(change.name.substr(0, 100)),
                   "' and version is ", change.version,
                   ", must be the name of a model and at least 0"));
}

void ModelChangeHandler::Continue(Responder& to) {
  absl::Status status;
  {
    MutexLock lock(outcome_->mutex);
    if (!outcome_->status) return;
    status = *outcome_->status;
  }
  if (status.ok()) Answer(service_.models.Find(name_).get(), to);
  to.Finish(status);
}

// Once the call is cancelled nothing wakes it any more; see ServiceCall.
bool ModelChangeHandler::quiet() const {
  if (outcome_ == nullptr) return true;
  MutexLock lock(outcome_->mutex);
  if (context_.cancelled()) outcome_->waiting = nullptr;
  return outcome_->status.has_value() || outcome_->waiting == nullptr;
}

}  // namespace attend
