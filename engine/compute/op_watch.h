#ifndef ATTEND_ENGINE_COMPUTE_OP_WATCH_H_
#define ATTEND_ENGINE_COMPUTE_OP_WATCH_H_

#include <cstdint>

namespace attend {

// What a thread has done between two times of the watch.
struct OpTime {
  const char* name = nullptr;  // outlives everybody
  int64_t begin = 0;
  int64_t end = 0;
  // Of a matrix or a step; 0: nothing to tell.
  int rows = 0;
  int columns = 0;
  int sequences = 0;
  int layer = -1;  // -1: of no layer
};

// Hears what the threads that compute do, and when: the engine has no clock of
// its own. Called on those threads, several at once; a function should return
// within a fraction of a microsecond, and may not throw.
class OpWatch {
 public:
  virtual ~OpWatch() = default;
  // In nanoseconds; never goes back.
  virtual int64_t Now() = 0;
  // The calling thread has done this. What was done inside of it has been told
  // before.
  virtual void OnOp(const OpTime& op) = 0;
};

// From now on `watch` hears of the ops of this process; null: nobody does. It
// must outlive whatever computes. Any thread.
void WatchOps(OpWatch* watch);
// Null: nobody watches.
OpWatch* WatchOfOps();

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_OP_WATCH_H_
