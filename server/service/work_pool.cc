#include "server/service/work_pool.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace attend {

WorkPool::WorkPool(int threads, int max_queued) : max_queued_(max_queued) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { RunThread(); });
  }
}

WorkPool::~WorkPool() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status WorkPool::Submit(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() >= max_queued_) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "%d calls wait to be tokenised, limit is %d (max_tokenizer_queue)",
          queue_.size(), max_queued_));
    }
    queue_.push_back(std::move(work));
  }
  changed_.notify_one();
  return absl::OkStatus();
}

void WorkPool::RunThread() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace attend
