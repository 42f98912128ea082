#ifndef ATTEND_SERVER_APP_SIGNALS_H_
#define ATTEND_SERVER_APP_SIGNALS_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/time/time.h"

namespace attend {

// What signals ask of the server.
enum class SignalRequest {
  kNothing,  // none came
  kStop,     // SIGTERM, SIGINT or SIGQUIT: an orderly end
  kReload,   // SIGHUP: read again what can be read again
};

// Signals, taken by a thread of its own. The first that asks for an orderly end
// is told by Wait(); the second ends the process on the spot, with status 1.
// SIGUSR1, SIGUSR2 and SIGPIPE do nothing.
// Make it before any other thread: all of them inherit the blocked signals.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Waits for what is asked next, for as long as `timeout`: kReload once for
  // all SIGHUPs that came since the last time, and kStop from then on.
  SignalRequest Wait(absl::Duration timeout);
  // Whether an orderly end was asked for.
  bool stopping();

 private:
  void RunThread();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  bool reload_ = false;    // guarded by mutex_
  std::atomic<bool> closed_{false};
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SIGNALS_H_
