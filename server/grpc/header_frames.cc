#include "server/grpc/header_frames.h"

namespace attend {

uint32_t HeaderFrames::OnFrame(const void* connection, bool ends_block,
                               bool acknowledged) {
  MutexLock lock(mutex_);
  Counts& counts = counts_[connection];
  const uint32_t max_bytes =
      ++counts.of_block == 1 ? kMaxHeaderBytes : kMaxContinuedBytes;
  counts.unacknowledged = acknowledged ? 0 : counts.unacknowledged + 1;
  // Who had too many is remembered until it is gone.
  if (ends_block && counts.of_block <= kMaxBlockFrames) counts.of_block = 0;
  if (counts.of_block + counts.unacknowledged == 0) counts_.erase(connection);
  return max_bytes;
}

void HeaderFrames::Refuse(const void* connection) {
  MutexLock lock(mutex_);
  counts_[connection].of_block = kMaxBlockFrames + 1;
}

bool HeaderFrames::IsOverLimit(const void* connection) {
  MutexLock lock(mutex_);
  const auto found = counts_.find(connection);
  return found != counts_.end() &&
         (found->second.of_block > kMaxBlockFrames ||
          found->second.unacknowledged > kMaxUnacknowledgedFrames);
}

void HeaderFrames::Forget(const void* connection) {
  MutexLock lock(mutex_);
  counts_.erase(connection);
}

HeaderFrames& HeaderFrames::OfProcess() {
  static auto* const frames = new HeaderFrames;  // outlives gRPC's threads
  return *frames;
}

}  // namespace attend
