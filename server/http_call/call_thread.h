#ifndef ATTEND_SERVER_HTTP_CALL_CALL_THREAD_H_
#define ATTEND_SERVER_HTTP_CALL_CALL_THREAD_H_

#include <condition_variable>
#include <thread>

#include "engine/tensor/mutex.h"
#include "server/service/wake_list.h"

namespace attend {

// The thread of the calls over HTTP. Calls write JSON here and not on the event
// loop of the HTTP port, so that a long answer delays no probe. Any thread may
// call the functions.
class CallThread {
 public:
  CallThread() : thread_([this] { Run(); }) {}
  // All that could be woken must be gone.
  ~CallThread();

  // OnWake() follows the next Flush(). One Flush() wakes the thread once,
  // however many objects are to be woken.
  void Wake(Wakeable& wakeable) { woken_.Add(wakeable); }
  void Flush();
  // Returns true if OnWake() is pending.
  bool IsWoken(const Wakeable& wakeable) { return woken_.Contains(wakeable); }

 private:
  void Run();

  WakeList woken_;
  Mutex mutex_;
  std::condition_variable changed_;
  bool flushed_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CALL_CALL_THREAD_H_
