#include "server/scheduler/admission.h"

#include <algorithm>
#include <cstddef>

namespace attend {
namespace {

// Blocks that a running sequence may want in the step after this one: a new
// block for each hypothesis.
int NextBlocks(const Work& work) {
  if (!work.uses_blocks) return 0;
  return work.phase == Phase::kDecode ? work.rows : 1;
}

// The blocks that must stay free for a running sequence before others are
// admitted.
int ReservedBlocks(const RequestView& view) {
  return std::max(view.work.blocks + NextBlocks(view.work),
                  view.blocks_when_preempted - view.held_blocks);
}

// The most that a request holds from now to its end.
Room MostHeld(const RequestView& view) {
  return {.places = 1,
          .blocks = std::max(view.max_blocks,
                             view.held_blocks + ReservedBlocks(view)),
          .encode_rows = view.held_encode_rows + view.work.encode_rows};
}

void Add(const Room& room, Room& sum) {
  sum.places += room.places;
  sum.blocks += room.blocks;
  sum.encode_rows += room.encode_rows;
}

}  // namespace

Admission::Admission(absl::Span<const RequestView> running,
                     const std::vector<char>& gone, const MemoryView& memory,
                     int max_running)
    : running_(running),
      gone_(gone),
      total_{.places = max_running,
             .blocks = memory.total_blocks,
             .encode_rows = memory.total_encode_rows},
      free_{.places = max_running - static_cast<int>(running.size()),
            .blocks = memory.free_blocks,
            .encode_rows = memory.free_encode_rows},
      others_(static_cast<int>(running.size())) {
  for (const RequestView& view : running) {
    free_.blocks -= ReservedBlocks(view);
    kept_blocks_ += ReservedBlocks(view) - view.work.blocks;
    free_.encode_rows -= view.work.encode_rows;
  }
  for (size_t i = 0; i < running.size(); ++i) {
    if (gone[i]) Release(running[i]);
  }
}

Room Admission::Wanted(const RequestView& newcomer) {
  return {.places = 1,
          .blocks = ReservedBlocks(newcomer),
          .encode_rows = newcomer.work.encode_rows};
}

Room Admission::Missing(const RequestView& newcomer, bool favoured) const {
  const Room wanted = Wanted(newcomer);
  return {.places = wanted.places - free_.places,
          .blocks = (others_ == 0 ? newcomer.work.blocks : wanted.blocks) -
                    free_.blocks - (favoured ? kept_blocks_ : 0),
          .encode_rows = wanted.encode_rows - free_.encode_rows};
}

bool Admission::Fits(const RequestView& newcomer, bool favoured) const {
  const Room missing = Missing(newcomer, favoured);
  return missing.places <= 0 && missing.blocks <= 0 && missing.encode_rows <= 0;
}

bool Admission::TryAdmit(const RequestView& newcomer, bool favoured) {
  if (!Fits(newcomer, favoured) || !(favoured || LeavesRoom(newcomer))) {
    return false;
  }
  Add(MostHeld(newcomer), admitted_);
  const Room wanted = Wanted(newcomer);
  free_.places -= wanted.places;
  free_.blocks -= wanted.blocks;
  kept_blocks_ += wanted.blocks - newcomer.work.blocks;
  free_.encode_rows -= wanted.encode_rows;
  others_ += 1;
  return true;
}

void Admission::KeepRoomFor(const RequestView& newcomer, absl::Time since) {
  if (kept_for_ != nullptr) return;
  kept_for_ = &newcomer;
  for (size_t i = 0; i < running_.size(); ++i) {
    if (!gone_[i] && running_[i].since >= since) {
      Add(MostHeld(running_[i]), later_);
    }
  }
}

bool Admission::LeavesRoom(const RequestView& newcomer) const {
  if (kept_for_ == nullptr) return true;
  Room sum = Wanted(*kept_for_);
  for (const Room& room : {MostHeld(newcomer), admitted_, later_}) {
    Add(room, sum);
  }
  return sum.places <= total_.places && sum.blocks <= total_.blocks &&
         sum.encode_rows <= total_.encode_rows;
}

void Admission::Release(const RequestView& running) {
  free_.places += 1;
  free_.blocks += ReservedBlocks(running) + running.held_blocks;
  kept_blocks_ -= ReservedBlocks(running) - running.work.blocks;
  free_.encode_rows += running.work.encode_rows + running.held_encode_rows;
  others_ -= 1;
}

}  // namespace attend
