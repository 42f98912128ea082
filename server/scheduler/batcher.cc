#include "server/scheduler/batcher.h"

#include <algorithm>

#include "engine/tensor/check.h"

namespace attend {
namespace {

// A step is shared by about this many encodes and prompts at first.
constexpr int kShares = 4;
// Smaller shares are not worth a piece.
constexpr int kMinShare = 8;
// What an encode of a few rows takes, mostly the reading of weights, as a part
// of the fixed time of a step: an encoder has about two thirds of the weights
// of its decoder, and no projection to the vocabulary.
constexpr double kEncodeFixed = 0.5;
// With fewer that decode, and so end and are followed by others, company comes
// too seldom to wait for.
constexpr size_t kMinCompany = 12;
// Nobody is held for longer than so many quiet steps.
constexpr double kMaxHoldSteps = 4;

// Blocks that a running sequence may want in the step after this one: a new
// block for each hypothesis.
int NextBlocks(const Work& work) {
  if (!work.uses_blocks) return 0;
  return work.phase == Phase::kDecode ? work.rows : 1;
}

// What must stay free for a running sequence before others are admitted.
int ReservedBlocks(const RequestView& view) {
  return std::max(view.work.blocks + NextBlocks(view.work),
                  view.blocks_when_preempted - view.held_blocks);
}

// Memory that newcomers may take, as they take it.
class Admission {
 public:
  Admission(absl::Span<const RequestView> running, const MemoryView& memory,
            int max_running)
      : places_(max_running - static_cast<int>(running.size())),
        blocks_(memory.free_blocks),
        encode_rows_(memory.free_encode_rows),
        alone_(running.empty()) {
    for (const RequestView& view : running) {
      blocks_ -= ReservedBlocks(view);
      encode_rows_ -= view.work.encode_rows;
    }
  }

  bool full() const { return places_ <= 0; }

  // True if it fits, and then it has its place. The first one on an empty
  // machine needs no reserve: it cannot be in anybody's way.
  bool TryAdmit(const RequestView& view) {
    const int wanted = ReservedBlocks(view);
    const int needed = alone_ ? view.work.blocks : wanted;
    if (full() || needed > blocks_ || view.work.encode_rows > encode_rows_) {
      return false;
    }
    places_ -= 1;
    blocks_ -= wanted;
    encode_rows_ -= view.work.encode_rows;
    alone_ = false;
    return true;
  }

 private:
  int places_;
  int blocks_;
  int encode_rows_;
  bool alone_;
};

}  // namespace

Batcher::Batcher(const BatcherOptions& options)
    : options_(options),
      aging_microseconds_(
          std::max<int64_t>(absl::ToInt64Microseconds(options.aging), 1)) {
  decision_.running.reserve(options.max_running);
  decision_.admitted.reserve(options.max_running);
  decision_.preempted.reserve(options.max_running);
  candidates_.reserve(options.max_waiting + options.max_running);
  chosen_.reserve(options.max_running);
  gone_.reserve(options.max_running);
  decodes_.reserve(options.max_running);
}

const Decision& Batcher::Plan(absl::Span<const RequestView> waiting,
                              absl::Span<const RequestView> running,
                              const MemoryView& memory, const StepCost& cost,
                              absl::Time now) {
  decision_.running.clear();
  decision_.admitted.clear();
  decision_.preempted.clear();
  decision_.decode_rows = 0;
  decision_.prompt_rows = 0;
  Preempt(running, memory.free_blocks, now);
  PlanDecodes(running);
  PlanPrompts(waiting, running, memory, cost, now);
  ATTEND_CHECK(!decision_.running.empty() || !decision_.admitted.empty() ||
               (waiting.empty() && running.empty()));
  return decision_;
}

int64_t Batcher::Level(const RequestView& view, absl::Time now) const {
  // In plain integers: this is asked for all who wait, in every step.
  const int64_t waited = absl::ToInt64Microseconds(now - view.arrival);
  return view.priority + std::max<int64_t>(waited, 0) / aging_microseconds_;
}

void Batcher::Preempt(absl::Span<const RequestView> running, int free_blocks,
                      absl::Time now) {
  gone_.assign(running.size(), 0);
  int64_t needed = 0;
  for (const RequestView& view : running) needed += view.work.blocks;
  int64_t left = running.size();
  int64_t room = free_blocks;
  // One alone always fits; what the others shared is not in their blocks, but
  // is free when all of them are gone.
  while (needed > room && left > 1) {
    int victim = -1;
    int oldest = -1;
    for (int i = 0; i < static_cast<int>(running.size()); ++i) {
      if (gone_[i]) continue;
      if (oldest < 0 || running[i].order < running[oldest].order) oldest = i;
    }
    for (int i = 0; i < static_cast<int>(running.size()); ++i) {
      if (gone_[i] || i == oldest) continue;
      if (victim < 0) {
        victim = i;
        continue;
      }
      const int64_t level = Level(running[i], now);
      const int64_t lowest = Level(running[victim], now);
      if (level < lowest ||
          (level == lowest && running[i].order > running[victim].order)) {
        victim = i;
      }
    }
    gone_[victim] = 1;
    decision_.preempted.push_back(victim);
    needed -= running[victim].work.blocks;
    room += running[victim].held_blocks;
    --left;
  }
}

void Batcher::PlanDecodes(absl::Span<const RequestView> running) {
  decodes_.clear();
  int64_t rows = 0;
  for (int i = 0; i < static_cast<int>(running.size()); ++i) {
    if (IsPreempted(i) || running[i].work.phase != Phase::kDecode) continue;
    decodes_.push_back(i);
    rows += running[i].work.rows;
  }
  if (rows > options_.max_rows) {
    std::sort(decodes_.begin(), decodes_.end(), [&](int a, int b) {
      const RequestView& x = running[a];
      const RequestView& y = running[b];
      return x.last_piece != y.last_piece ? x.last_piece < y.last_piece
                                          : x.order < y.order;
    });
  }
  for (const int i : decodes_) {
    const int wanted = running[i].work.rows;
    if (decision_.decode_rows > 0 &&
        decision_.decode_rows + wanted > options_.max_rows) {
      continue;
    }
    decision_.running.push_back({.index = i, .rows = wanted});
    decision_.decode_rows += wanted;
  }
}

bool Batcher::HoldsEncodes(absl::Span<const RequestView> waiting,
                           absl::Span<const RequestView> running, int budget,
                           const StepCost& cost, absl::Time now) const {
  if (decodes_.size() < kMinCompany) return false;
  for (const RequestView& view : running) {
    // There is an encode anyway.
    if (view.work.phase == Phase::kEncode) return false;
  }
  const int enough = std::min(options_.min_encode_rows, budget);
  const double longest =
      kMaxHoldSteps * cost.QuietSeconds(decision_.decode_rows);
  int rows = 0;
  double waited = 0;  // seconds, of all together
  for (const RequestView& view : waiting) {
    if (view.work.phase != Phase::kEncode) continue;
    const double seconds = absl::ToDoubleSeconds(now - view.arrival);
    rows += view.work.rows;
    waited += seconds;
    if (rows >= enough || seconds >= longest || view.blocks_when_preempted > 0)
      return false;
  }
  return waited < kEncodeFixed * cost.QuietSeconds(0) * decision_.decode_rows;
}

void Batcher::CollectCandidates(absl::Span<const RequestView> waiting,
                                absl::Span<const RequestView> running,
                                bool hold, absl::Time now) {
  candidates_.clear();
  const auto add = [&](const RequestView& view, size_t index, bool is_waiting) {
    candidates_.push_back({.level = Level(view, now),
                           .order = view.order,
                           .index = static_cast<int>(index),
                           .is_waiting = is_waiting});
  };
  for (size_t i = 0; i < running.size(); ++i) {
    if (IsPreempted(i) || running[i].work.phase == Phase::kDecode) continue;
    add(running[i], i, /*is_waiting=*/false);
  }
  if (decision_.preempted.empty() &&
      static_cast<int>(running.size()) < options_.max_running) {
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (hold && waiting[i].work.phase == Phase::kEncode) continue;
      add(waiting[i], i, /*is_waiting=*/true);
    }
  }
  // Only the first few are taken of many.
  std::make_heap(candidates_.begin(), candidates_.end());
}

int Batcher::RowsFor(const RequestView& view, bool is_waiting, int left,
                     int budget) {
  const int wanted = view.work.rows;
  // Too long for any step as this one: a share.
  if (wanted > budget) {
    return std::min(left, std::max(budget / kShares, kMinShare));
  }
  // A newcomer of which less than half would be done waits for the next step.
  if (is_waiting && left < wanted && left < (wanted + 1) / 2) return 0;
  return std::min(wanted, left);
}

int Batcher::RowsBesideDecodes(absl::Span<const RequestView> waiting,
                               absl::Span<const RequestView> running,
                               const StepCost& cost) const {
  const auto encodes = [](const RequestView& view) {
    return view.work.phase == Phase::kEncode;
  };
  const bool any = std::any_of(running.begin(), running.end(), encodes) ||
                   std::any_of(waiting.begin(), waiting.end(), encodes);
  return std::max(any ? options_.min_encode_piece : options_.min_prompt_piece,
                  cost.RowsThatDouble(decision_.decode_rows));
}

void Batcher::PlanPrompts(absl::Span<const RequestView> waiting,
                          absl::Span<const RequestView> running,
                          const MemoryView& memory, const StepCost& cost,
                          absl::Time now) {
  int left = options_.max_rows - decision_.decode_rows;
  if (left <= 0) return;
  if (decision_.decode_rows > 0) {
    if (cost.WantsQuietStep()) return;
    left = std::min(left, RowsBesideDecodes(waiting, running, cost));
  }
  const int budget = left;
  CollectCandidates(waiting, running,
                    HoldsEncodes(waiting, running, budget, cost, now), now);
  Admission admission(running, memory, options_.max_running);
  chosen_.clear();
  auto end = candidates_.end();
  bool open = true;  // for newcomers
  int begun = static_cast<int>(std::count_if(
      candidates_.begin(), end,
      [](const Candidate& candidate) { return !candidate.is_waiting; }));
  while (left > 0 && (begun > 0 || (open && end != candidates_.begin()))) {
    std::pop_heap(candidates_.begin(), end);
    Candidate candidate = *--end;
    if (candidate.is_waiting && !open) continue;
    if (!candidate.is_waiting) --begun;
    const RequestView& view = candidate.is_waiting ? waiting[candidate.index]
                                                   : running[candidate.index];
    // A newcomer's decode cannot be cut; one of more rows than any step has
    // left would wait until nothing else runs.
    const bool whole = view.work.phase == Phase::kDecode;
    if (whole && view.work.rows > left && !decision_.running.empty()) continue;
    candidate.rows = whole ? view.work.rows
                           : RowsFor(view, candidate.is_waiting, left, budget);
    if (candidate.rows == 0) {
      open = false;
      continue;
    }
    if (candidate.is_waiting && !admission.TryAdmit(view)) {
      open = !admission.full() && view.blocks_when_preempted == 0 &&
             now - view.arrival < options_.aging;
      continue;
    }
    left = std::max(left - candidate.rows, 0);
    chosen_.push_back(candidate);
  }
  for (const Candidate& candidate : chosen_) {
    const Work& work = candidate.is_waiting ? waiting[candidate.index].work
                                            : running[candidate.index].work;
    const int rows = std::min(work.rows, candidate.rows + left);
    left -= rows - candidate.rows;
    (candidate.is_waiting ? decision_.admitted : decision_.running)
        .push_back({.index = candidate.index, .rows = rows});
    decision_.prompt_rows += rows;
  }
}

}  // namespace attend
