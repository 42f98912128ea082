#include "server/app/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace attend {
namespace {

// The destructor wakes the thread by this signal. From other processes the
// signal has no effect.
constexpr int kWake = SIGUSR1;

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, kWake}) {
    sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

Signals::Signals() {
  const sigset_t set = Watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a closed log pipe must not end the server
  signal(SIGXFSZ, SIG_IGN);  // nor a log file that may not grow (ulimit -f)
  signal(SIGUSR2, SIG_IGN);
  thread_ = std::thread([this] { RunThread(); });
}

Signals::~Signals() {
  closed_ = true;
  pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

SignalRequest Signals::Wait(absl::Duration timeout) {
  MutexLock lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(timeout),
                    [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                      return stopping_ || reload_;
                    });
  if (stopping_) return SignalRequest::kStop;
  return std::exchange(reload_, false) ? SignalRequest::kReload
                                       : SignalRequest::kNothing;
}

bool Signals::stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

void Signals::EndWithin(absl::Duration most) {
  signal(SIGALRM, [](int) { _exit(0); });
  alarm(static_cast<unsigned>(absl::ToInt64Seconds(most)));
}

void Signals::RunThread() {
  const sigset_t set = Watched();
  int signal = 0;
  while (sigwait(&set, &signal) == 0 && !closed_) {
    if (signal == kWake) continue;
    MutexLock lock(mutex_);
    if (signal == SIGHUP) {
      reload_ = true;
    } else {
      if (stopping_) std::_Exit(1);
      stopping_ = true;
    }
    changed_.notify_all();
  }
}

}  // namespace attend
