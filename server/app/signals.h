#ifndef ATTEND_SERVER_APP_SIGNALS_H_
#define ATTEND_SERVER_APP_SIGNALS_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "engine/tensor/mutex.h"

namespace attend {

// The requests of signals to the server.
enum class SignalRequest {
  kNothing,  // no signal came
  kStop,     // SIGTERM, SIGINT or SIGQUIT: an orderly end
  kReload,   // SIGHUP: reload all reloadable files
};

// Blocks the signals that ask for something, so that one that arrives before
// there is a Signals waits for it. launcher.cc has done so already, where the
// server is started by it.
void BlockSignals();

// Undoes BlockSignals() in a process that has no Signals: signals then end it.
// (As process 1, it has to end by itself.)
void UnblockSignals();

// Receives signals on a thread of its own. Wait() tells of the first signal
// that asks for an orderly end; a second one ends the process on the spot, with
// status 1. SIGUSR1, SIGUSR2 and SIGPIPE do nothing. At SIGCHLD, all child
// processes that have ended are reaped, including those that are not this
// program's: process 1 of a container inherits orphans. To be made before all
// other threads, because they must inherit the blocked signals.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Until Started(), a request to stop, also one that came before, calls
  // `end_process` on the thread of the signals. The function must not return. A
  // server that starts has nothing to drain, and its main thread may be busy
  // for minutes with one model.
  void EndAtOnce(std::function<void()> end_process);
  // From now on, requests to stop are for Wait(). Does not return if
  // EndAtOnce()'s function runs.
  void Started();

  // Waits for the next request, for at most `timeout`. Returns kReload once for
  // all SIGHUPs that came since the last call. After a request to stop, every
  // call returns kStop.
  SignalRequest Wait(absl::Duration timeout);
  // Returns true if an orderly end was requested.
  bool stopping();
  // Ends the process with status 0 after at most `most`. For the last step of
  // an orderly end, because gRPC waits forever for a thread of its own that the
  // system could not start.
  void EndWithin(absl::Duration most);

 private:
  void RunThread();
  void EndIfStarting();

  Mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool reload_ ABSL_GUARDED_BY(mutex_) = false;
  // For EndAtOnce(), which holds `start_mutex_` while it runs; null: not
  // allowed.
  Mutex start_mutex_;
  std::function<void()> end_process_ ABSL_GUARDED_BY(start_mutex_);
  std::atomic<bool> closed_{false};
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SIGNALS_H_
