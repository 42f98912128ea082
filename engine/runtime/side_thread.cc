#include "engine/runtime/side_thread.h"

#include <algorithm>

#include "engine/tensor/check.h"

namespace attend {

SideThread::Job::~Job() {
  if (thread_ != nullptr) thread_->Cancel(*this);
}

SideThread::~SideThread() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void SideThread::Start(Job& job) {
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  MutexLock lock(mutex_);
  ATTEND_CHECK(!job.waiting_);
  job.thread_ = this;
  job.waiting_ = true;
  queue_.push_back(&job);
  changed_.notify_all();
}

void SideThread::Finish(Job& job) {
  MutexLock lock(mutex_);
  changed_.wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !job.waiting_;
  });
}

void SideThread::Cancel(Job& job) {
  MutexLock lock(mutex_);
  const auto place = std::find(queue_.begin(), queue_.end(), &job);
  if (place != queue_.end()) {
    queue_.erase(place);
    job.waiting_ = false;
  }
  changed_.wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !job.waiting_;
  });
}

void SideThread::Run() {
  MutexLock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stop_ || !queue_.empty();
    });
    if (stop_) return;
    Job& job = *queue_.front();
    queue_.erase(queue_.begin());
    lock.unlock();
    job.work_();
    lock.lock();
    job.waiting_ = false;
    changed_.notify_all();
  }
}

}  // namespace attend
