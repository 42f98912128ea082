#ifndef ATTEND_SERVER_APP_SIGNALS_H_
#define ATTEND_SERVER_APP_SIGNALS_H_

#include <condition_variable>
#include <mutex>
#include <thread>

namespace attend {

// SIGTERM and SIGINT, taken by a thread of its own. The first asks for an
// orderly end; the second ends the process on the spot, with status 1.
// Make it before any other thread: all of them inherit the blocked signals.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Returns once the first signal has come.
  void WaitForFirst();
  bool received();

 private:
  void RunThread();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool received_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SIGNALS_H_
