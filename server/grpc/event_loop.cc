#include "server/grpc/event_loop.h"

#include <chrono>
#include <utility>

#include "absl/time/clock.h"
#include "server/grpc/read_turns.h"
#include "server/scheduler/clock.h"

namespace attend {

EventLoop::EventLoop(std::unique_ptr<grpc::ServerCompletionQueue> queue,
                     absl::Duration watch_interval)
    : watch_interval_(watch_interval), queue_(std::move(queue)) {}

void EventLoop::Start() {
  ReadInTurns();
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

void EventLoop::Flush() {
  if (woken_.empty()) return;
  MutexLock lock(mutex_);
  if (alarm_set_ || closed_) return;
  alarm_set_ = true;
  // A time in the past fires at once. The current time would be rounded up to
  // the next millisecond, and gRPC's timer thread would have to fire the alarm.
  wake_alarm_.Set(queue_.get(), std::chrono::system_clock::time_point(),
                  static_cast<Event*>(&wake_event_));
}

void EventLoop::OnWakeAlarm(bool) {
  {
    MutexLock lock(mutex_);
    alarm_set_ = false;
  }
  woken_.Run();
}

void EventLoop::Watch(Watched& watched) {
  watched_.insert(&watched);
  if (std::exchange(watching_, true)) return;
  watch_alarm_.Set(queue_.get(),
                   absl::ToChronoTime(absl::Now() + watch_interval_),
                   static_cast<Event*>(&watch_event_));
}

// gRPC takes a time by the system's clock, but waits for as long as that is
// away when it is set: only what is measured in between must not jump.
void EventLoop::OnWatchAlarm(bool) {
  watching_ = false;
  if (watched_.empty()) return;
  const absl::Time now = SteadyNow();
  // OnWatch() does not change the set: what it begins ends in a later event.
  for (Watched* watched : watched_) watched->OnWatch(now);
  watching_ = true;
  watch_alarm_.Set(queue_.get(),
                   absl::ToChronoTime(absl::Now() + watch_interval_),
                   static_cast<Event*>(&watch_event_));
}

}  // namespace attend
