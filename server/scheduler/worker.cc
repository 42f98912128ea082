#include "server/scheduler/worker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {
namespace {

// Preempted requests wait too.
int MaxWaiting(const SchedulerOptions& options) {
  return RequestQueue::kTimesMax * options.max_queued_requests +
         options.max_running;
}

BatcherOptions ToBatcherOptions(const SchedulerOptions& options,
                                const ModelInfo& info) {
  BatcherOptions result;
  // The widest decode is one piece, whatever the budget.
  result.max_rows = std::min(std::max(options.max_batch_tokens, info.max_beams),
                             info.max_step_rows);
  result.max_running = options.max_running;
  result.max_waiting = MaxWaiting(options);
  result.aging = options.aging;
  return result;
}

// Of memory others may have more soon; all else is the engine's own.
absl::Status StepError(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) return status;
  return absl::InternalError(absl::StrCat("step failed: ", status.message()));
}

// Removes the entries whose request has ended; keeps the order.
template <typename Entries>
void DropEnded(Entries& entries) {
  entries.erase(std::remove_if(
                    entries.begin(), entries.end(),
                    [](const auto& entry) { return entry.request == nullptr; }),
                entries.end());
}

}  // namespace

Worker::Worker(const SchedulerOptions& options, const Engine& engine,
               const Clock& clock, RequestQueue& queue)
    : clock_(clock),
      queue_(queue),
      context_(engine.NewContext()),
      batcher_(ToBatcherOptions(options, engine.info())),
      tenants_(MaxWaiting(options) + options.max_running) {
  waiting_.reserve(MaxWaiting(options));
  running_.reserve(options.max_running);
  waiting_views_.reserve(waiting_.capacity());
  running_views_.reserve(running_.capacity());
  arrivals_.reserve(RequestQueue::kTimesMax * options.max_queued_requests);
  claims_.reserve(MaxWaiting(options) + options.max_running);
  plan_.pieces.reserve(options.max_running);
  plan_.preempted.reserve(options.max_running);
}

void Worker::Sweep() {
  // No step has been planned yet.
  decode_rows_ = 0;
  prompt_rows_ = 0;
  counts_before_ = context_->counts();
  step_duration_ = absl::ZeroDuration();
  plan_.preempted.clear();
  queue_.Take(arrivals_);
  for (std::unique_ptr<Request>& request : arrivals_) {
    Entry& entry = waiting_.emplace_back();
    entry.order = arrived_++;
    entry.since = request->times.arrival;
    entry.tenant = tenants_.Arrive(request->tenant);
    entry.work = request->sequence->Next();
    entry.max_blocks = request->sequence->max_blocks();
    entry.request = std::move(request);
  }
  arrivals_.clear();

  const absl::Time now = clock_.Now();
  for (Entry& entry : waiting_) {
    const absl::Status verdict = entry.Verdict(now);
    // Empty work is answered, not computed.
    if (verdict.ok() && entry.work.phase != Phase::kDone) continue;
    queue_.Depart(*entry.request);
    tenants_.End(entry.tenant, /*was_waiting=*/true);
    End(entry, verdict, now);
  }
  for (Entry& entry : running_) {
    const absl::Status verdict = entry.Verdict(now);
    if (!verdict.ok()) EndRunning(entry, verdict, now);
  }
  DropEnded(waiting_);
  DropEnded(running_);
}

absl::Span<TurnClaim> Worker::Claims() {
  claims_.clear();
  tenants_.AddClaims(claims_);
  return absl::MakeSpan(claims_);
}

void Worker::Plan() {
  tenants_.SetModels(claims_);
  CollectViews();
  const absl::Time now = clock_.Now();
  const Decision& decision =
      batcher_.Plan(waiting_views_, running_views_,
                    {.free_blocks = context_->free_blocks(),
                     .free_encode_rows = context_->free_encode_rows(),
                     .total_blocks = context_->total_blocks(),
                     .total_encode_rows = context_->total_encode_rows()},
                    cost_, now, tenants_.views());
  tenants_.BeginStep(decision.joint);
  plan_.pieces.clear();
  plan_.preempted.clear();
  decode_rows_ = decision.decode_rows;
  prompt_rows_ = decision.prompt_rows;
  for (const auto [index, rows] : decision.running) {
    StartPiece(running_[index], rows, now);
  }
  for (const int index : decision.preempted) Preempt(running_[index], now);
  DropEnded(running_);  // before others come: it has memory for max_running
  for (const auto [index, rows] : decision.admitted) {
    Admit(waiting_[index], rows, now);
  }
  DropEnded(waiting_);
}

void Worker::CollectViews() {
  waiting_views_.clear();
  for (const Entry& entry : waiting_) {
    waiting_views_.push_back(entry.View(/*with_blocks=*/false));
  }
  // Blocks that requests hold are counted only if the numbers matter: if the
  // running requests do not all fit, for requests that were preempted, and if
  // there are several tenants.
  int64_t needed = 0;
  for (const Entry& entry : running_) needed += entry.work.blocks;
  const bool tight = needed > context_->free_blocks() ||
                     (tenants_.present() > 1 && !waiting_.empty());
  running_views_.clear();
  for (const Entry& entry : running_) {
    running_views_.push_back(
        entry.View(tight || entry.blocks_when_preempted > 0));
  }
}

void Worker::Preempt(Entry& entry, absl::Time now) {
  Sequence& sequence = *entry.request->sequence;
  plan_.preempted.push_back(&sequence);
  queue_.Return(*entry.request);
  tenants_.Return(entry.tenant);
  entry.blocks_when_preempted =
      std::min(sequence.blocks() + entry.work.blocks, sequence.max_blocks());
  entry.encode_rows = 0;
  entry.since = now;
  waiting_.push_back(std::move(entry));
}

void Worker::Admit(Entry& entry, int rows, absl::Time now) {
  queue_.Depart(*entry.request);
  tenants_.Admit(entry.tenant);
  entry.encode_rows = entry.work.encode_rows;
  entry.since = now;
  StartPiece(entry, rows, now);
  running_.push_back(std::move(entry));
}

void Worker::StartPiece(Entry& entry, int rows, absl::Time now) {
  entry.piece_number = static_cast<int>(plan_.pieces.size());
  plan_.pieces.push_back(
      {.sequence = entry.request->sequence.get(), .rows = rows});
  entry.piece = entry.work.phase;
  const bool decodes = entry.piece == Phase::kDecode;
  tenants_.AddRows(entry.tenant, decodes ? rows : 0, decodes ? 0 : rows);
  entry.last_piece = ++pieces_;
  RequestTimes& times = entry.request->times;
  if (times.started == absl::InfinitePast()) times.started = now;
}

void Worker::Step() {
  const absl::Time start = clock_.Now();
  step_status_ = CatchOutOfMemory([this] { return context_->Step(plan_); });
  step_duration_ = std::max(clock_.Now() - start, absl::ZeroDuration());
  // What was planned for prompts and sources was at most.
  const absl::Span<const int> spared = context_->spared();
  for (const Entry& entry : running_) {
    if (entry.piece != Phase::kEncode && entry.piece != Phase::kPrompt) {
      continue;
    }
    const int rows = spared[entry.piece_number];
    prompt_rows_ -= rows;
    tenants_.SpareRows(entry.tenant, rows);
  }
  if (step_status_.ok()) {
    cost_.Observe(decode_rows_, prompt_rows_, step_duration_);
  }
  tenants_.EndStep(cost_, step_duration_);
}

void Worker::Deliver() {
  const absl::Time now = clock_.Now();
  if (!plan_.preempted.empty()) {
    // Preempted requests begin again from their start.
    for (Entry& entry : waiting_) entry.work = entry.request->sequence->Next();
  }
  for (Entry& entry : running_) {
    if (entry.piece == Phase::kDone) continue;
    if (step_status_.ok()) {
      DeliverTo(entry, now);
    } else {
      EndRunning(entry, StepError(step_status_), now);
    }
  }
  DropEnded(running_);
}

void Worker::DeliverTo(Entry& entry, absl::Time now) {
  Request& request = *entry.request;
  const absl::Status status = request.sequence->status();
  if (!status.ok()) return EndRunning(entry, status, now);
  entry.FinishPiece(decode_rows_ + prompt_rows_,
                    static_cast<int>(plan_.pieces.size()), now);
  const SequenceOutput& output = request.sequence->output();
  if (entry.HasNewOutput()) {
    if (request.times.first_token == absl::InfinitePast()) {
      request.times.first_token = now;
    }
    request.listener->OnOutput(output, request.times);
  }
  if (entry.work.phase == Phase::kDone) {
    EndRunning(entry, absl::OkStatus(), now);
  }
}

void Worker::EndRunning(Entry& entry, const absl::Status& status,
                        absl::Time now) {
  tenants_.End(entry.tenant, /*was_waiting=*/false);
  End(entry, status, now);
}

void Worker::End(Entry& entry, const absl::Status& status, absl::Time now) {
  Request& request = *entry.request;
  request.times.ended = now;
  request.listener->OnDone(status, request.sequence->output(), request.times);
  entry.request.reset();
  queue_.Finish(now);
}

StepReport Worker::Report() const {
  const RequestQueue::Depth depth = queue_.depth();
  const StepCounts counts = context_->counts();
  return {
      .rows = decode_rows_ + prompt_rows_,
      .preempted = static_cast<int>(plan_.preempted.size()),
      .queried_tokens = counts.queried_tokens - counts_before_.queried_tokens,
      .hit_tokens = counts.hit_tokens - counts_before_.hit_tokens,
      .draft_tokens = counts.draft_tokens - counts_before_.draft_tokens,
      .accepted_draft_tokens =
          counts.accepted_draft_tokens - counts_before_.accepted_draft_tokens,
      .model_draft_tokens =
          counts.model_draft_tokens - counts_before_.model_draft_tokens,
      .accepted_model_draft_tokens = counts.accepted_model_draft_tokens -
                                     counts_before_.accepted_model_draft_tokens,
      .duration = step_duration_,
      .queued_requests = depth.requests,
      .queued_tokens = static_cast<int>(depth.tokens),
      .running = static_cast<int>(running_.size()),
      .used_blocks = context_->total_blocks() - context_->free_blocks(),
      .total_blocks = context_->total_blocks()};
}

bool Worker::EndAll(const absl::Status& status) {
  queue_.Take(arrivals_);
  for (std::unique_ptr<Request>& request : arrivals_) {
    waiting_.emplace_back().request = std::move(request);
  }
  arrivals_.clear();
  const bool any = busy();
  const absl::Time now = clock_.Now();
  for (Entry& entry : waiting_) {
    queue_.Depart(*entry.request);
    End(entry, status, now);
  }
  for (Entry& entry : running_) End(entry, status, now);
  waiting_.clear();
  running_.clear();
  return any;
}

}  // namespace attend
