#ifndef ATTEND_SERVER_GRPC_EVENT_LOOP_H_
#define ATTEND_SERVER_GRPC_EVENT_LOOP_H_

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include <memory>
#include <thread>
#include <unordered_set>

#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "server/service/wake_list.h"

namespace attend {

// An event of a completion queue. The queue's tags point to events.
class Event {
 public:
  virtual ~Event() = default;
  // Called on the loop's thread when the event has happened; `ok` is gRPC's.
  virtual void Run(bool ok) = 0;
};

// An event that runs a member of its owner.
template <class Owner>
class MemberEvent final : public Event {
 public:
  MemberEvent(Owner& owner, void (Owner::*member)(bool))
      : owner_(owner), member_(member) {}
  void Run(bool ok) override { (owner_.*member_)(ok); }

 private:
  Owner& owner_;
  void (Owner::*const member_)(bool);
};

// Something on a loop whose writes the loop can watch.
class Watched {
 public:
  virtual ~Watched() = default;
  // The loop's thread calls it at every watch interval while the object is
  // watched.
  virtual void OnWatch(absl::Time now) = 0;
};

// A completion queue and the thread that serves it. Other threads can wake the
// objects of the loop. One alarm wakes all objects that are to be woken.
class EventLoop {
 public:
  // Calls OnWatch() every `watch_interval`.
  EventLoop(std::unique_ptr<grpc::ServerCompletionQueue> queue,
            absl::Duration watch_interval);
  // The server must have shut down, and all its calls must be gone.
  ~EventLoop();

  grpc::ServerCompletionQueue* queue() { return queue_.get(); }
  void Start();

  // Any thread may call Wake() and Flush(). OnWake() follows the next Flush().
  void Wake(Wakeable& wakeable) { woken_.Add(wakeable); }
  void Flush();
  // Whether OnWake() is still to come.
  bool IsWoken(const Wakeable& wakeable) { return woken_.Contains(wakeable); }

  // Only the loop's thread may call these functions.
  void Watch(Watched& watched);
  void Unwatch(Watched& watched) { watched_.erase(&watched); }

 private:
  void RunThread();
  void OnWakeAlarm(bool);
  void OnWatchAlarm(bool);

  const absl::Duration watch_interval_;
  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;

  WakeList woken_;
  Mutex mutex_;
  bool alarm_set_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Alarm wake_alarm_ ABSL_GUARDED_BY(mutex_);
  MemberEvent<EventLoop> wake_event_{*this, &EventLoop::OnWakeAlarm};

  // The thread's own.
  std::unordered_set<Watched*> watched_;
  bool watching_ = false;
  grpc::Alarm watch_alarm_;
  MemberEvent<EventLoop> watch_event_{*this, &EventLoop::OnWatchAlarm};

  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_EVENT_LOOP_H_
