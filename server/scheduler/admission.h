#ifndef ATTEND_SERVER_SCHEDULER_ADMISSION_H_
#define ATTEND_SERVER_SCHEDULER_ADMISSION_H_

#include <vector>

#include "absl/types/span.h"
#include "server/scheduler/views.h"

namespace attend {

// What a request takes while it runs.
struct Room {
  int places = 0;  // of max_running
  int blocks = 0;
  int encode_rows = 0;
};

// The room that newcomers may take in a step, as they take it. What runs keeps
// room for its next two steps.
class Admission {
 public:
  // `gone` has a mark for each running request; those marked give their room
  // back.
  Admission(absl::Span<const RequestView> running,
            const std::vector<char>& gone, const MemoryView& memory,
            int max_running);

  // No place is left.
  bool full() const { return free_.places <= 0; }

  // What a newcomer takes, and keeps free.
  static Room Wanted(const RequestView& newcomer);
  // What is missing for it; nothing is positive if it fits. The first one on an
  // empty machine needs no reserve: it cannot be in anybody's way. One that is
  // `favoured` may take blocks that are kept for later steps of others.
  Room Missing(const RequestView& newcomer, bool favoured) const;
  bool Fits(const RequestView& newcomer, bool favoured) const;
  // True if it fits and may have its room, and then it has it.
  bool TryAdmit(const RequestView& newcomer, bool favoured);
  // A running request gives its room back.
  void Release(const RequestView& running);
  // Keeps room for a newcomer that does not fit, or is left out of the step,
  // and may not be overtaken since that time; for the first such one of a step.
  // Others are admitted only if they and it fit beside those that were admitted
  // since then. So it waits for nobody but those that run before.
  void KeepRoomFor(const RequestView& newcomer, absl::Time since);

 private:
  // False if it would be in the way of the one that room is kept for.
  bool LeavesRoom(const RequestView& newcomer) const;

  const absl::Span<const RequestView> running_;
  const std::vector<char>& gone_;
  const Room total_;
  Room free_;
  int kept_blocks_ = 0;  // for the steps after this one, and so not in free_
  int others_ = 0;       // that run or were admitted
  Room admitted_;        // what those admitted in this step hold at most
  const RequestView* kept_for_ = nullptr;
  Room later_;  // what those that run since then hold at most
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_ADMISSION_H_
