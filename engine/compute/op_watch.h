#ifndef ATTEND_ENGINE_COMPUTE_OP_WATCH_H_
#define ATTEND_ENGINE_COMPUTE_OP_WATCH_H_

#include <cstdint>

namespace attend {

// An operation of a thread between two times of the watch.
struct OpTime {
  const char* name = nullptr;  // has static lifetime
  int64_t begin = 0;
  int64_t end = 0;
  // Shape of a matrix, or size of a step; 0: unspecified.
  int rows = 0;
  int columns = 0;
  int sequences = 0;
  int layer = -1;  // -1: no layer
};

// Receives the operations of compute threads and provides their clock, because
// the engine has none. Called on those threads concurrently; a function should
// return within a fraction of a microsecond, and must not throw.
class OpWatch {
 public:
  virtual ~OpWatch() = default;
  // In nanoseconds; never goes back.
  virtual int64_t Now() = 0;
  // Reports a completed operation of the calling thread, after the operations
  // nested in it.
  virtual void OnOp(const OpTime& op) = 0;
};

// Sets the watch of this process; null: none. `watch` must outlive all
// computation. Any thread.
void WatchOps(OpWatch* watch);
// Returns the current watch, or null.
OpWatch* WatchOfOps();

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_OP_WATCH_H_
