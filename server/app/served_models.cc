#include "server/app/served_models.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

absl::Status Printable(const absl::Status& status) {
  std::string message(status.message());
  std::replace_if(
      message.begin(), message.end(),
      [](char c) { return !absl::ascii_isprint(c); }, '?');
  return absl::Status(status.code(), message);
}

}  // namespace

ServedModels::Serving::Serving(Model loaded, ModelMetrics& metrics,
                               ServedModels& owner)
    : model(std::move(loaded)),
      scheduler(
          owner.options_, *model.engine, owner.clock_, owner.turns_,
          [&metrics, &signal = owner.step_signal_](const StepReport& report) {
            metrics.OnStep(report);
            signal.Notify();
          }) {}

void ServedModels::Add(absl::string_view name, absl::StatusOr<Model> model) {
  // First: where it has no memory, nothing has been added.
  entries_.reserve(entries_.size() + 1);
  if (!model.ok()) {
    entries_.push_back({.name = std::string(name),
                        .calls = metrics_.AddBrokenModel(name),
                        .served = Printable(model.status())});
    return;
  }
  ModelMetrics& metrics = metrics_.AddModel(model->engine->info());
  Serving& serving = serving_.emplace_back(*std::move(model), metrics, *this);
  entries_.push_back(
      {.name = std::string(name),
       .calls = metrics,
       .served = ServedModel{.engine = *serving.model.engine,
                             .tokenizer = *serving.model.tokenizer,
                             .scheduler = serving.scheduler,
                             .metrics = metrics,
                             .chat = serving.model.chat.get(),
                             .grammars = serving.model.grammars.get()}});
}

void ServedModels::Drain() {
  for (Serving& serving : serving_) serving.scheduler.Drain();
}

bool ServedModels::WaitUntilIdle(absl::Duration timeout) {
  const absl::Time end = SteadyNow() + timeout;
  bool idle = true;
  for (Serving& serving : serving_) {
    idle &= serving.scheduler.WaitUntilIdle(
        std::max(end - SteadyNow(), absl::ZeroDuration()));
  }
  return idle;
}

}  // namespace attend
