#include "server/scheduler/batcher.h"

#include <algorithm>

#include "engine/tensor/check.h"
#include "server/scheduler/encode_hold.h"

namespace attend {
namespace {

// A step is shared by about this many encodes and prompts at first.
constexpr int kShares = 4;
// Smaller shares are not worth a piece.
constexpr int kMinShare = 8;
// The least cost of a row, for when its cost is not known yet.
constexpr double kLeastRowSeconds = 1e-9;

constexpr TenantView kOneTenant;

}  // namespace

Batcher::Batcher(const BatcherOptions& options)
    : options_(options),
      aging_microseconds_(
          std::max<int64_t>(absl::ToInt64Microseconds(options.aging), 1)) {
  const int requests = options.max_waiting + options.max_running;
  decision_.running.reserve(options.max_running);
  decision_.admitted.reserve(options.max_running);
  decision_.preempted.reserve(options.max_running);
  preemption_.Reserve(options.max_running, requests);
  participants_.Reserve(requests);
  candidates_.Reserve(requests, requests);
  chosen_.reserve(options.max_running);
  decodes_.reserve(options.max_running);
}

const Decision& Batcher::Plan(absl::Span<const RequestView> waiting,
                              absl::Span<const RequestView> running,
                              const MemoryView& memory, const StepCost& cost,
                              absl::Time now,
                              absl::Span<const TenantView> tenants) {
  in_ = {
      waiting, running,
      memory,  &cost,
      now,     tenants.empty() ? absl::MakeConstSpan(&kOneTenant, 1) : tenants};
  participants_.Count(waiting, running, in_.tenants);
  participants_.Choose(cost, options_.max_rows);
  PlanStep();
  const auto nothing = [&] {
    return decision_.running.empty() && decision_.admitted.empty();
  };
  if (nothing() && !participants_.all()) {
    // The tenants that should have this step alone have no room yet.
    participants_.ChooseAll();
    PlanStep();
  }
  decision_.joint = participants_.all();
  ATTEND_CHECK(!nothing() || (waiting.empty() && running.empty()));
  return decision_;
}

void Batcher::PlanStep() {
  PlanStep(/*may_favour=*/true);
  // If other requests took the rows, the newcomer was not admitted; then nobody
  // is preempted for it.
  const bool admitted =
      std::any_of(decision_.admitted.begin(), decision_.admitted.end(),
                  [&](const Decision::Rows& piece) {
                    return &in_.waiting[piece.index] == favoured_;
                  });
  if (favoured_ != nullptr && !admitted) PlanStep(/*may_favour=*/false);
}

void Batcher::PlanStep(bool may_favour) {
  decision_.running.clear();
  decision_.admitted.clear();
  decision_.decode_rows = 0;
  decision_.prompt_rows = 0;
  participants_.ForgetAdmitted();
  Preempt(may_favour);
  PlanDecodes();
  PlanPrompts();
}

void Batcher::Preempt(bool may_favour) {
  preemption_.Begin(in_.running, in_.tenants, in_.now, aging_microseconds_);
  preemption_.ForMemory(participants_, in_.memory.free_blocks);
  admits_ = preemption_.chosen().empty();
  favoured_ = nullptr;
  if (may_favour && admits_ && participants_.present() > 1) {
    PreemptForNewcomer();
  }
  decision_.preempted = preemption_.chosen();
}

void Batcher::PreemptForNewcomer() {
  const RequestView* newcomer =
      participants_.FirstNewcomer(in_.now, aging_microseconds_);
  if (newcomer == nullptr || participants_.running()[newcomer->tenant] > 0) {
    return;
  }
  // Requests are preempted for a newcomer only in a step that admits.
  const int decode_rows = participants_.decode_rows();
  if (decode_rows > 0 &&
      (in_.cost->WantsQuietStep() || decode_rows >= options_.max_rows)) {
    return;
  }
  if (preemption_.ForNewcomer(*newcomer, in_.memory, options_.max_running,
                              participants_.total_weight())) {
    favoured_ = newcomer;
  }
}

void Batcher::PlanDecodes() {
  decodes_.clear();
  int64_t rows = 0;
  for (size_t i = 0; i < in_.running.size(); ++i) {
    const RequestView& view = in_.running[i];
    if (IsPreempted(i) || !participants_.Has(view)) continue;
    if (view.work.phase != Phase::kDecode) continue;
    decodes_.push_back(static_cast<int>(i));
    rows += view.work.rows;
  }
  if (rows > options_.max_rows) {
    std::sort(decodes_.begin(), decodes_.end(), [&](int a, int b) {
      const RequestView& x = in_.running[a];
      const RequestView& y = in_.running[b];
      return x.last_piece != y.last_piece ? x.last_piece < y.last_piece
                                          : x.order < y.order;
    });
  }
  for (const int i : decodes_) {
    const int wanted = in_.running[i].work.rows;
    if (decision_.decode_rows > 0 &&
        decision_.decode_rows + wanted > options_.max_rows) {
      continue;
    }
    decision_.running.push_back({.index = i, .rows = wanted});
    decision_.decode_rows += wanted;
  }
}

void Batcher::CollectCandidates(bool hold) {
  candidates_.Clear();
  const auto add = [&](const RequestView& view, size_t index, bool is_waiting) {
    candidates_.Add({.tenant = view.tenant,
                     .level = LevelOf(view, in_.now, aging_microseconds_),
                     .order = view.order,
                     .index = static_cast<int>(index),
                     .is_waiting = is_waiting});
  };
  begun_ = 0;
  for (size_t i = 0; i < in_.running.size(); ++i) {
    const RequestView& view = in_.running[i];
    if (IsPreempted(i) || !participants_.Has(view)) continue;
    if (view.work.phase == Phase::kDecode) continue;
    add(view, i, /*is_waiting=*/false);
    ++begun_;
  }
  const size_t places = options_.max_running + decision_.preempted.size();
  if (admits_ && in_.running.size() < places) {
    for (size_t i = 0; i < in_.waiting.size(); ++i) {
      const RequestView& view = in_.waiting[i];
      if (!participants_.HasPlace(view)) continue;
      // Of the tenants that are left out, only requests for which room may have
      // to be kept.
      if (!participants_.Has(view) && NextSince(view, options_.aging) > in_.now)
        continue;
      if (hold && view.work.phase == Phase::kEncode) continue;
      add(view, i, /*is_waiting=*/true);
    }
  }
  candidates_.Arrange(in_.tenants, participants_.running());
}

int Batcher::RowsFor(const RequestView& view, bool is_waiting, int left,
                     int budget) const {
  const int wanted = view.work.rows;
  if (view.work.phase == Phase::kDecode) {
    // Decode work cannot be cut, so it may take all rows that are left of
    // max_rows.
    const int room = options_.max_rows - decision_.decode_rows - budget + left;
    const bool alone = decision_.running.empty() && chosen_.empty();
    return alone || wanted <= room ? wanted : 0;
  }
  // The work is too long for any step like this one: it gets a share.
  if (wanted > budget) {
    return std::min(left, std::max(budget / kShares, kMinShare));
  }
  if (!is_waiting || wanted <= left) return std::min(wanted, left);
  // A newcomer of which less than half would be done waits for the next step,
  // and so does a small source: one that is cut makes all of a step slower.
  const bool small =
      view.work.phase == Phase::kEncode && wanted <= budget / kShares;
  return small || left < (wanted + 1) / 2 ? 0 : left;
}

int Batcher::RowsBesideDecodes() const {
  const auto encodes = [&](const RequestView& view) {
    return participants_.Has(view) && view.work.phase == Phase::kEncode;
  };
  const bool any =
      std::any_of(in_.running.begin(), in_.running.end(), encodes) ||
      std::any_of(in_.waiting.begin(), in_.waiting.end(), encodes);
  const int decode_rows = decision_.decode_rows;
  const double short_step = absl::ToDoubleSeconds(options_.short_step);
  return std::max(
      {any ? options_.min_encode_piece : options_.min_prompt_piece,
       in_.cost->RowsThatDouble(decode_rows),
       in_.cost->RowsUntil(decode_rows, short_step),
       in_.cost->PromptRowsOf(absl::ToDoubleSeconds(FirstDecodesWait()))});
}

absl::Duration Batcher::FirstDecodesWait() const {
  for (const RequestView& view : in_.running) {
    if (view.has_decoded) return absl::ZeroDuration();
  }
  absl::Duration least = absl::InfiniteDuration();
  for (const int i : decodes_) {
    least = std::min(least, in_.now - in_.running[i].arrival);
  }
  return least;
}

void Batcher::PlanPrompts() {
  int budget = options_.max_rows - decision_.decode_rows;
  if (budget <= 0) return;
  if (decision_.decode_rows > 0) {
    if (in_.cost->WantsQuietStep()) return;
    budget = std::min(budget, RowsBesideDecodes());
  }
  // If requests were preempted for a newcomer, the newcomer begins now.
  CollectCandidates(
      /*hold=*/decision_.preempted.empty() &&
      HoldsEncodes({.waiting = in_.waiting,
                    .running = in_.running,
                    .participants = participants_,
                    .cost = *in_.cost,
                    .now = in_.now,
                    .decoding = static_cast<int>(decodes_.size()),
                    .decode_rows = decision_.decode_rows,
                    .enough = std::min(options_.min_encode_rows, budget)}));
  int left = ChooseCandidates(budget);
  for (const Candidate& candidate : chosen_) {
    const int rows =
        std::min(ViewOf(candidate).work.rows, candidate.rows + left);
    left -= rows - candidate.rows;
    (candidate.is_waiting ? decision_.admitted : decision_.running)
        .push_back({.index = candidate.index, .rows = rows});
    decision_.prompt_rows += rows;
  }
}

int Batcher::ChooseCandidates(int budget) {
  Admission admission(in_.running, preemption_.gone(), in_.memory,
                      options_.max_running);
  const double row_seconds =
      std::max(in_.cost->PromptRowSeconds(), kLeastRowSeconds);
  chosen_.clear();
  int left = budget;
  bool open = true;  // for newcomers
  while (left > 0 && (begun_ > 0 || (open && !candidates_.empty()))) {
    Candidate candidate = candidates_.Pop();
    if (candidate.is_waiting && !open) continue;
    if (!candidate.is_waiting) --begun_;
    const RequestView& view = ViewOf(candidate);
    if (candidate.is_waiting && !participants_.HasPlace(view)) continue;
    if (!participants_.Has(view)) {
      KeepRoomFor(view, admission);
      continue;
    }
    candidate.rows = RowsFor(view, candidate.is_waiting, left, budget);
    if (candidate.rows == 0) {
      open = view.work.phase == Phase::kDecode &&
             NextSince(view, options_.aging) > in_.now;
      continue;
    }
    if (candidate.is_waiting && !admission.TryAdmit(view, &view == favoured_)) {
      open = !admission.full();
      if (NextSince(view, options_.aging) <= in_.now)
        KeepRoomFor(view, admission);
      continue;
    }
    if (candidate.is_waiting) participants_.Admit(view);
    candidates_.Charge(candidate.rows * row_seconds);
    left = std::max(left - candidate.rows, 0);
    chosen_.push_back(candidate);
  }
  return left;
}

void Batcher::KeepRoomFor(const RequestView& view, Admission& admission) {
  // A request of a tenant that is left out does not take its room in this step,
  // even if it fits.
  if (!participants_.Has(view) || !admission.Fits(view, /*favoured=*/false)) {
    admission.KeepRoomFor(view, NextSince(view, options_.aging));
  }
  candidates_.DropWaiting();
}

}  // namespace attend
