#include "server/grpc/accepted_calls.h"

namespace attend {

void AcceptedCalls::set_max_open(int max_open) {
  MutexLock lock(mutex_);
  max_open_ = max_open;
}

bool AcceptedCalls::Add(const void* connection) {
  MutexLock lock(mutex_);
  int& count = counts_[connection];
  if (count >= max_open_ + kMaxResetCalls) return false;
  ++count;
  return true;
}

void AcceptedCalls::Remove(const void* connection) {
  MutexLock lock(mutex_);
  const auto found = counts_.find(connection);
  if (found != counts_.end() && --found->second == 0) counts_.erase(found);
}

AcceptedCalls& AcceptedCalls::OfProcess() {
  static auto* const calls = new AcceptedCalls;  // outlives gRPC's threads
  return *calls;
}

}  // namespace attend
