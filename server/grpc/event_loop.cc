#include "server/grpc/event_loop.h"

#include <chrono>
#include <utility>

#include "absl/time/clock.h"

namespace attend {

EventLoop::EventLoop(std::unique_ptr<grpc::ServerCompletionQueue> queue,
                     absl::Duration watch_interval)
    : watch_interval_(watch_interval), queue_(std::move(queue)) {}

void EventLoop::Start() {
  thread_ = std::thread([this] { RunThread(); });
}

EventLoop::~EventLoop() {
  {
    MutexLock lock(mutex_);
    closed_ = true;  // no alarm may be set on a queue that shuts down
  }
  watch_alarm_.Cancel();  // nobody is watched any more; do not wait for it
  queue_->Shutdown();
  if (thread_.joinable()) {
    thread_.join();
  } else {
    RunThread();  // never started: the queue has to be emptied all the same
  }
}

void EventLoop::RunThread() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) static_cast<Event*>(tag)->Run(ok);
}

void EventLoop::Wake(Wakeable& wakeable) {
  MutexLock lock(mutex_);
  if (std::exchange(wakeable.woken_, true)) return;
  woken_.push_back(&wakeable);
}

void EventLoop::Flush() {
  MutexLock lock(mutex_);
  if (woken_.empty() || alarm_set_ || closed_) return;
  alarm_set_ = true;
  // A time in the past fires at once. The current time would be rounded up to
  // the next millisecond, and gRPC's timer thread would have to fire the alarm.
  wake_alarm_.Set(queue_.get(), std::chrono::system_clock::time_point(),
                  static_cast<Event*>(&wake_event_));
}

bool EventLoop::IsWoken(const Wakeable& wakeable) {
  MutexLock lock(mutex_);
  return wakeable.woken_;
}

void EventLoop::OnWakeAlarm(bool) {
  waking_.clear();
  {
    MutexLock lock(mutex_);
    alarm_set_ = false;
    waking_.swap(woken_);
  }
  for (Wakeable* wakeable : waking_) {
    {
      // The flag is cleared just before OnWake(): until then IsWoken() is true,
      // and what is woken does not destroy itself.
      MutexLock lock(mutex_);
      wakeable->woken_ = false;
    }
    wakeable->OnWake();
  }
}

void EventLoop::Watch(Wakeable& wakeable) {
  watched_.insert(&wakeable);
  if (std::exchange(watching_, true)) return;
  watch_alarm_.Set(queue_.get(),
                   absl::ToChronoTime(absl::Now() + watch_interval_),
                   static_cast<Event*>(&watch_event_));
}

void EventLoop::OnWatchAlarm(bool) {
  watching_ = false;
  if (watched_.empty()) return;
  const absl::Time now = absl::Now();
  // OnWatch() does not change the set: what it begins ends in a later event.
  for (Wakeable* wakeable : watched_) wakeable->OnWatch(now);
  watching_ = true;
  watch_alarm_.Set(queue_.get(), absl::ToChronoTime(now + watch_interval_),
                   static_cast<Event*>(&watch_event_));
}

}  // namespace attend
