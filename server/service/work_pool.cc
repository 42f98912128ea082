#include "server/service/work_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

namespace attend {
namespace {

// The time that a slow tokenizer takes.
constexpr std::chrono::microseconds kTimePerByte(1);
// What work takes beside its bytes, in bytes.
constexpr double kFixedBytes = 100;

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
    MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status WorkPool::Submit(const Tenant& tenant, size_t bytes,
                              std::function<void()> work) {
  {
    MutexLock lock(mutex_);
    const auto share = shares_.find(tenant.id);
    const int own = share == shares_.end() ? 0 : share->second.queued();
    if (int64_t{own} + queued_ >= int64_t{kTimesMax} * max_queued_) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "%d calls wait to be tokenised, %d of them of this tenant, limit is "
          "%d (max_tokenizer_queue)",
          queued_, own, max_queued_));
    }
    Add(tenant, bytes, std::move(work));
  }
  changed_.notify_all();
  return absl::OkStatus();
}

void WorkPool::Continue(const Tenant& tenant, size_t bytes,
                        std::function<void()> work) {
  {
    MutexLock lock(mutex_);
    Add(tenant, bytes, std::move(work));
  }
  changed_.notify_all();
}

void WorkPool::Add(const Tenant& tenant, size_t bytes,
                   std::function<void()> work) {
  const double floor = Floor();
  const auto [at, is_new] = shares_.try_emplace(tenant.id);
  Share& share = at->second;
  if (is_new) {
    share.tenant = tenant.id;
    share.given = floor;
  }
  share.weight = tenant.weight;
  Queue& queue = bytes <= kShortWork ? share.short_ : share.long_;
  queue.emplace(std::chrono::steady_clock::now() + bytes * kTimePerByte,
                Work{bytes, std::move(work)});
  ++queued_;
}

double WorkPool::Floor() const {
  if (shares_.empty()) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [id, share] : shares_) {
    least = std::min(least, share.given);
  }
  return least;
}

WorkPool::Queue& WorkPool::NextOf(Share& share, bool short_only) {
  if (short_only || share.long_.empty()) return share.short_;
  if (share.short_.empty()) return share.long_;
  return share.short_.begin()->first <= share.long_.begin()->first
             ? share.short_
             : share.long_;
}

WorkPool::Share* WorkPool::Next(bool short_only) {
  Share* next = nullptr;
  for (auto& [id, share] : shares_) {
    const Queue& queue = NextOf(share, short_only);
    if (queue.empty()) continue;
    if (next == nullptr || share.given < next->given ||
        (share.given == next->given &&
         queue.begin()->first < NextOf(*next, short_only).begin()->first)) {
      next = &share;
    }
  }
  return next;
}

void WorkPool::Forget(Share& share) {
  if (share.queued() + share.running == 0) shares_.erase(share.tenant);
}

void WorkPool::RunThread(bool short_only) {
  MutexLock lock(mutex_);
  while (true) {
    Share* share = nullptr;
    changed_.wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      share = Next(short_only);
      return closed_ || share != nullptr;
    });
    if (share == nullptr) return;
    Queue& queue = NextOf(*share, short_only);
    Work work = std::move(queue.begin()->second);
    queue.erase(queue.begin());
    --queued_;
    ++share->running;  // so it stays where it is
    share->given += (work.bytes + kFixedBytes) / share->weight;
    lock.unlock();
    work.run();
    work.run = nullptr;
    lock.lock();
    --share->running;
    Forget(*share);
  }
}

}  // namespace attend
