#include "server/service/model_change_handler.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/service/administrator.h"

namespace attend {

absl::StatusOr<int> ModelChangeHandler::Start(
    const google::protobuf::Message& request) {
  ASSIGN_OR_RETURN(ModelChange change, Read(request));
  RETURN_IF_ERROR(CheckRights(change));
  name_ = change.name;
  auto outcome = std::make_shared<AwaitedResult<absl::Status>>(context_);
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
  RETURN_IF_ERROR(CheckAdministrator(service_, context_));
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
  const std::optional<absl::Status> status = outcome_->Take();
  if (!status) return;
  if (status->ok()) Answer(service_.models.Find(name_).get(), to);
  to.Finish(*status);
}

// Once the call is cancelled nothing wakes it any more; see ServiceCall.
bool ModelChangeHandler::quiet() const {
  if (outcome_ == nullptr) return true;
  if (context_.cancelled()) outcome_->Leave();
  return outcome_->quiet();
}

}  // namespace attend
