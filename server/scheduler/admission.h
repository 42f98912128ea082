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
  // True if it fits, and then it has its room.
  bool TryAdmit(const RequestView& newcomer, bool favoured);
  // A running request gives its room back.
  void Release(const RequestView& running);

 private:
  Room free_;
  int kept_blocks_ = 0;  // for the steps after this one, and so not in free_
  int others_ = 0;       // that run or were admitted
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_ADMISSION_H_
