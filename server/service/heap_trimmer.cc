#include "server/service/heap_trimmer.h"

#include <utility>

namespace attend {

HeapTrimmer::HeapTrimmer(absl::Duration pause, std::function<void()> trim)
    : pause_(pause), trim_(std::move(trim)), thread_([this] { RunThread(); }) {}

HeapTrimmer::~HeapTrimmer() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HeapTrimmer::Freed(int64_t bytes) {
  MutexLock lock(mutex_);
  freed_bytes_ += bytes;
  if (freed_bytes_ >= kWorthwhileBytes) changed_.notify_one();
}

void HeapTrimmer::RunThread() {
  const auto end = [this]()
                       ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; };
  MutexLock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stop_ || freed_bytes_ >= kWorthwhileBytes;
    });
    changed_.wait_for(lock, absl::ToChronoMilliseconds(pause_), end);
    if (stop_) return;
    freed_bytes_ = 0;
    lock.unlock();
    trim_();
    lock.lock();
  }
}

}  // namespace attend
