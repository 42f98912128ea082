#include "server/service/heap_trimmer.h"

#include <utility>

namespace attend {

HeapTrimmer::HeapTrimmer(absl::Duration pause, std::function<void()> trim)
    : pause_(pause), trim_(std::move(trim)), thread_([this] { RunThread(); }) {}

HeapTrimmer::~HeapTrimmer() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void HeapTrimmer::Freed(int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  freed_bytes_ += bytes;
}

void HeapTrimmer::RunThread() {
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(this, &HeapTrimmer::worthwhile));
    mutex_.AwaitWithTimeout(absl::Condition(&stop_), pause_);
    if (stop_) return;
    freed_bytes_ = 0;
    mutex_.Unlock();
    trim_();
    mutex_.Lock();
  }
}

}  // namespace attend
