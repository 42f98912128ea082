#ifndef ATTEND_ENGINE_COMPUTE_OP_TIMER_H_
#define ATTEND_ENGINE_COMPUTE_OP_TIMER_H_

#include "engine/compute/op_watch.h"

namespace attend {

// Tells the watch of an op, which takes as long as the OpTimer is there, on one
// thread. The parts that members of a team have in it, Team::Run() tells of, by
// its name. Without a watch this is a branch, twice.
class OpTimer {
 public:
  // `op` has a name, and what else is to be told of it.
  explicit OpTimer(const OpTime& op) : watch_(WatchOfOps()) {
    if (watch_ != nullptr) [[unlikely]] {
      Begin(op);
    }
  }
  ~OpTimer() {
    if (watch_ != nullptr) [[unlikely]] {
      End();
    }
  }
  OpTimer(const OpTimer&) = delete;
  OpTimer& operator=(const OpTimer&) = delete;

  // The name of the op that this thread is in; "part" if it is in none.
  static const char* NameNow();

 private:
  void Begin(const OpTime& op);
  void End();

  OpWatch* const watch_;
  OpTime op_;
  const char* outer_ = nullptr;  // the op that this one is a part of
};

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_OP_TIMER_H_
