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

// The room that is left for newcomers while a step is planned. Running requests
// keep room for their next two steps.
class Admission {
 public:
  // `gone` has a mark for each running request; marked requests give their room
  // back.
  Admission(absl::Span<const RequestView> running,
            const std::vector<char>& gone, const MemoryView& memory,
            int max_running);

  // True if no place is left.
  bool full() const { return free_.places <= 0; }

  // The room that a newcomer takes, and the room that is kept free for its next
  // steps.
  static Room Wanted(const RequestView& newcomer);
  // The room that is missing for a newcomer. If the newcomer fits, no number of
  // the result is positive. A newcomer to an empty machine needs no room for
  // later steps, because it can be in nobody's way. A `favoured` newcomer may
  // take blocks that are kept for later steps of other requests.
  Room Missing(const RequestView& newcomer, bool favoured) const;
  bool Fits(const RequestView& newcomer, bool favoured) const;
  // Admits the newcomer if it fits and leaves the room that KeepRoomFor()
  // keeps; a favoured newcomer need not leave that room. Returns whether the
  // newcomer was admitted.
  bool TryAdmit(const RequestView& newcomer, bool favoured);
  // To be called when a running request gives its room back.
  void Release(const RequestView& running);
  // Keeps room for a newcomer that does not fit, or is left out of the step,
  // and that may not be overtaken any more since the time `since`. Only the
  // first call of a step counts. From then on another newcomer is admitted only
  // if both fit together beside the requests that were admitted since then.
  // Thus the newcomer waits only for requests that were running before.
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
