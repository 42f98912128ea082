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

// What must stay free for a running sequence before others are admitted.
int ReservedBlocks(const RequestView& view) {
  return std::max(view.work.blocks + NextBlocks(view.work),
                  view.blocks_when_preempted - view.held_blocks);
}

}  // namespace

Admission::Admission(absl::Span<const RequestView> running,
                     const std::vector<char>& gone, const MemoryView& memory,
                     int max_running)
    : free_{.places = max_running - static_cast<int>(running.size()),
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

bool Admission::TryAdmit(const RequestView& newcomer, bool favoured) {
  const Room missing = Missing(newcomer, favoured);
  if (missing.places > 0 || missing.blocks > 0 || missing.encode_rows > 0) {
    return false;
  }
  const Room wanted = Wanted(newcomer);
  free_.places -= wanted.places;
  free_.blocks -= wanted.blocks;
  kept_blocks_ += wanted.blocks - newcomer.work.blocks;
  free_.encode_rows -= wanted.encode_rows;
  others_ += 1;
  return true;
}

void Admission::Release(const RequestView& running) {
  free_.places += 1;
  free_.blocks += ReservedBlocks(running) + running.held_blocks;
  kept_blocks_ -= ReservedBlocks(running) - running.work.blocks;
  free_.encode_rows += running.work.encode_rows + running.held_encode_rows;
  others_ -= 1;
}

}  // namespace attend
