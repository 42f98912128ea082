#include "server/http_call/call_thread.h"

namespace attend {

CallThread::~CallThread() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void CallThread::Flush() {
  if (woken_.empty()) return;
  {
    MutexLock lock(mutex_);
    flushed_ = true;
  }
  changed_.notify_one();
}

void CallThread::Run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return flushed_ || closed_;
      });
      if (!flushed_) return;
      flushed_ = false;
    }
    woken_.Run();
  }
}

}  // namespace attend
