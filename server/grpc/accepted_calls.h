#ifndef ATTEND_SERVER_GRPC_ACCEPTED_CALLS_H_
#define ATTEND_SERVER_GRPC_ACCEPTED_CALLS_H_

#include <unordered_map>

#include "engine/tensor/mutex.h"

namespace attend {

// Calls that a connection may have beside those that are open: the client has
// reset them, but gRPC has not taken them down yet. Each has some 18 KB.
inline constexpr int kMaxResetCalls = 1000;

// Counts the calls of which gRPC has memory, by connection. gRPC itself limits
// those that are open: a call that the client resets makes place for the next
// one at once (CVE-2023-44487). Only connections with calls take memory.
// Thread-safe.
class AcceptedCalls {
 public:
  // From now on as many calls of a connection may be open.
  void set_max_open(int max_open);
  // A call begins. False, and it is not counted: the connection has too many.
  bool Add(const void* connection);
  // A call of the connection has gone. One that is not counted does not matter.
  void Remove(const void* connection);

  // Those of all connections of this process.
  static AcceptedCalls& OfProcess();

 private:
  Mutex mutex_;
  int max_open_ ABSL_GUARDED_BY(mutex_) = 1000;
  std::unordered_map<const void*, int> counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_ACCEPTED_CALLS_H_
