#include "server/service/input_state.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

template <class T>
void AppendGrowth(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin() + to.size(), from.end());
}

void CopyGrowth(const ChoiceOutput& from, ChoiceOutput& to) {
  AppendGrowth(from.tokens, to.tokens);
  AppendGrowth(from.log_probs, to.log_probs);
  AppendGrowth(from.top, to.top);
  to.finish = from.finish;
  to.score = from.score;
}

// Makes `to` equal to `from`. `to` is an earlier state of `from`.
void CopyGrowth(const SequenceOutput& from, SequenceOutput& to) {
  if (to.choices.size() < from.choices.size()) {
    to.choices.resize(from.choices.size());
  }
  for (size_t i = 0; i < from.choices.size(); ++i) {
    CopyGrowth(from.choices[i], to.choices[i]);
    if (from.finished) to.choices[i].alignment = from.choices[i].alignment;
  }
  if (to.prompt.tokens.size() < from.prompt.tokens.size()) {
    CopyGrowth(from.prompt, to.prompt);
  }
  AppendGrowth(from.values, to.values);
  to.width = from.width;
  to.finished = from.finished;
}

void Reserve(size_t tokens, bool log_probs, int top_log_probs,
             ChoiceOutput& choice) {
  choice.tokens.reserve(tokens);
  if (log_probs) choice.log_probs.reserve(tokens);
  choice.top.reserve(tokens * top_log_probs);
}

SequenceOutput Reserve(const OutputLimits& limits) {
  SequenceOutput output;
  output.choices.resize(limits.choices);
  for (ChoiceOutput& choice : output.choices) {
    Reserve(limits.tokens, limits.log_probs, limits.top_log_probs, choice);
  }
  Reserve(limits.prompt_tokens, true, limits.top_log_probs, output.prompt);
  output.values.reserve(limits.values);
  return output;
}

RejectReason ReasonOf(const absl::Status& status) {
  if (absl::IsUnavailable(status)) return RejectReason::kDraining;
  if (status == OutOfMemory()) return RejectReason::kMemory;
  if (absl::IsResourceExhausted(status)) {
    return status.GetPayload(kTenantLimitUrl) ? RejectReason::kTenantLimit
                                              : RejectReason::kQueueFull;
  }
  return RejectReason::kInvalid;
}

}  // namespace

bool InputProgress::Take(std::vector<int>& to) {
  to.assign(ended.begin(), ended.end());
  ended.clear();
  std::sort(to.begin(), to.end());
  return !to.empty();
}

int CountTokens(const SequenceOutput& output) {
  size_t count = 0;
  for (const ChoiceOutput& choice : output.choices) {
    count += choice.tokens.size();
  }
  return static_cast<int>(count);
}

void InputState::Submit(EngineRequest request, const InputFacts& facts,
                        const OutputLimits& limits, int priority) {
  if (!Prepare(std::move(request), facts, limits, priority)) return;
  const absl::Status status = TrySubmit();
  if (!status.ok()) Reject(status);
}

bool InputState::Prepare(EngineRequest request, const InputFacts& facts,
                         const OutputLimits& limits, int priority) {
  facts_ = facts;
  const absl::Status status = CatchOutOfMemory(
      [&] { return MakeRequest(std::move(request), limits, priority); });
  if (absl::IsCancelled(status) || absl::IsDeadlineExceeded(status)) {
    End(status);
  } else if (!status.ok()) {
    Reject(status);
  }
  return status.ok();
}

absl::Status InputState::MakeRequest(EngineRequest engine_request,
                                     const OutputLimits& limits, int priority) {
  RETURN_IF_ERROR(context_.CheckAwaited());
  if (engine_request.cache_salt == 0) {
    engine_request.cache_salt = context_.cache_salt();
  }
  ASSIGN_OR_RETURN(auto sequence,
                   model_.engine.NewSequence(std::move(engine_request)));
  request_ = std::make_unique<Request>();
  request_->id = context_.request_id();
  request_->tenant = context_.tenant();
  request_->priority = std::min(priority, context_.account().max_priority());
  request_->deadline = context_.deadline();
  request_->source_tokens = facts_.source_tokens + facts_.prefix_tokens;
  request_->sequence = std::move(sequence);
  request_->listener = this;
  output_ = Reserve(limits);
  return absl::OkStatus();
}

absl::Status InputState::TrySubmit() {
  const int known_tokens = request_->source_tokens;
  SetRunning(true);
  // From here on the worker may call OnOutput() and OnDone().
  const absl::Status status =
      CatchOutOfMemory([&] { return model_.scheduler.Submit(request_); });
  if (status.ok()) {
    context_.account().OnSource(known_tokens, clock_.Now());
    return status;
  }
  SetRunning(false);
  return status;
}

void InputState::SetRunning(bool running) {
  MutexLock lock(context_.mutex());
  running_ = running;
  progress_.running += running ? 1 : -1;
}

void InputState::AnnounceEnd() {
  if (running_) --progress_.running;
  running_ = false;
  done_ = true;
  progress_.ended.push_back(index_);
  context_.WakeAfterStep();
}

void InputState::Reject(const absl::Status& status) {
  CatchOutOfMemory([&] {
    const RejectReason reason = ReasonOf(status);
    model_.metrics.OnRejected(reason);
    if (reason == RejectReason::kTenantLimit) {
      context_.account().OnInputRefused();
    }
    return absl::OkStatus();
  }).IgnoreError();
  End(status);
}

void InputState::End(const absl::Status& status, SequenceOutput output) {
  MutexLock lock(context_.mutex());
  output_ = std::move(output);
  status_ = status;
  AnnounceEnd();
}

absl::Status InputState::status() const {
  if (absl::IsCancelled(status_)) {
    if (absl::Status cut = context_.cut_status(); !cut.ok()) return cut;
  }
  return status_;
}

void InputState::ObserveGap(const SequenceOutput& output) {
  const size_t tokens = CountTokens(output);
  if (tokens <= tokens_seen_) return;
  const absl::Time now = clock_.Now();
  if (tokens_seen_ > 0) model_.metrics.OnInterToken(now - last_output_);
  context_.account().OnGenerated(static_cast<int>(tokens - tokens_seen_), now);
  tokens_seen_ = tokens;
  last_output_ = now;
}

// Where there is no memory even for this, the next time copies more.
void InputState::OnOutput(const SequenceOutput& output,
                          const RequestTimes& times) {
  CatchOutOfMemory([&] {
    ObserveGap(output);
    if (!streaming_) return absl::OkStatus();
    MutexLock lock(context_.mutex());
    CopyGrowth(output, output_);
    times_ = times;
    context_.WakeAfterStep();
    return absl::OkStatus();
  }).IgnoreError();
}

void InputState::OnDone(const absl::Status& status,
                        const SequenceOutput& output,
                        const RequestTimes& times) {
  CatchOutOfMemory([&] {
    ObserveGap(output);
    model_.metrics.OnRequest(times, facts_.source_tokens, CountTokens(output));
    return absl::OkStatus();
  }).IgnoreError();
  MutexLock lock(context_.mutex());
  const absl::Status copied = CatchOutOfMemory([&] {
    CopyGrowth(output, output_);
    // A search may end with fewer results than were asked for.
    output_.choices.resize(output.choices.size());
    return absl::OkStatus();
  });
  times_ = times;
  if (context_.trace().sampled()) {
    context_.trace().AddInput({.times = times,
                               .input_tokens = facts_.source_tokens,
                               .output_tokens = CountTokens(output)});
  }
  status_ = status.ok() ? copied : status;
  AnnounceEnd();
}

void InputState::DropAlignments() {
  for (ChoiceOutput& choice : output_.choices) choice.alignment = {};
}

bool AllDone(const Inputs& inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const auto& input) { return input->done(); });
}

absl::Status CommonError(const Inputs& inputs) {
  if (!AllDone(inputs)) return absl::OkStatus();
  const absl::Status first = inputs.front()->status();
  for (const auto& input : inputs) {
    if (input->status().code() != first.code()) return absl::OkStatus();
  }
  return first;
}

CallSummary Summarize(const Inputs& inputs) {
  CallSummary summary;
  for (const auto& input : inputs) {
    ++summary.inputs;
    if (!input->status().ok()) ++summary.failed_inputs;
    summary.source_tokens += input->facts().source_tokens;
    summary.generated_tokens += CountTokens(input->output());
    const RequestTimes& times = input->times();
    if (times.started == absl::InfinitePast()) continue;
    ++summary.computed_inputs;
    if (times.first_token != absl::InfinitePast()) {
      summary.first_token = std::min(
          summary.first_token, times.first_token - input->call().arrival());
    }
    summary.parts.read += times.arrival - input->call().arrival();
    summary.parts.queue += times.started - times.arrival;
    summary.parts.compute += times.ended - times.started;
  }
  if (summary.computed_inputs == 0) return summary;
  summary.parts.read /= summary.computed_inputs;
  summary.parts.queue /= summary.computed_inputs;
  summary.parts.compute /= summary.computed_inputs;
  return summary;
}

}  // namespace attend
