#include "server/service/work_pool.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace attend {
namespace {

// The time that a slow tokenizer takes.
constexpr std::chrono::microseconds kTimePerByte(1);

}  // namespace

// Delegates to the other constructor, so that the destructor runs if a thread
// cannot be started: it ends the threads that were started.
WorkPool::WorkPool(int threads, int max_queued) : WorkPool(max_queued) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, i] { RunThread(/*short_only=*/i == 1); });
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

absl::Status WorkPool::Submit(size_t bytes, std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    const size_t queued = short_.size() + long_.size();
    if (queued >= max_queued_) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "%d calls wait to be tokenised, limit is %d (max_tokenizer_queue)",
          queued, max_queued_));
    }
    Add(bytes, std::move(work));
  }
  changed_.notify_all();
  return absl::OkStatus();
}

void WorkPool::Continue(size_t bytes, std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    Add(bytes, std::move(work));
  }
  changed_.notify_all();
}

void WorkPool::Add(size_t bytes, std::function<void()> work) {
  Queue& queue = bytes <= kShortWork ? short_ : long_;
  queue.emplace(std::chrono::steady_clock::now() + bytes * kTimePerByte,
                std::move(work));
}

WorkPool::Queue& WorkPool::Next(bool short_only) {
  if (short_only || long_.empty()) return short_;
  if (short_.empty()) return long_;
  return short_.begin()->first <= long_.begin()->first ? short_ : long_;
}

void WorkPool::RunThread(bool short_only) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closed_ || !Next(short_only).empty(); });
    Queue& queue = Next(short_only);
    if (queue.empty()) return;
    std::function<void()> work = std::move(queue.begin()->second);
    queue.erase(queue.begin());
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace attend
