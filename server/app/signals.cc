#include "server/app/signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
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
  for (int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGCHLD, kWake}) {
    sigaddset(&set, signal);
  }
  return set;
}

void SetMask(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
    sigaddset(&set, signal);
  }
  sigprocmask(how, &set, nullptr);
}

void ReapChildren() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

void BlockSignals() { SetMask(SIG_BLOCK); }

void UnblockSignals() { SetMask(SIG_UNBLOCK); }

Signals::Signals() {
  const sigset_t set = Watched();
  // A parent may have blocked others, such as SIGALRM of EndWithin().
  pthread_sigmask(SIG_SETMASK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a closed log pipe must not end the server
  signal(SIGXFSZ, SIG_IGN);  // nor a log file that may not grow (ulimit -f)
  signal(SIGUSR2, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // a parent may have ignored it
  thread_ = std::thread([this] { RunThread(); });
}

Signals::~Signals() {
  closed_ = true;
  pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

void Signals::EndAtOnce(std::function<void()> end_process) {
  {
    MutexLock lock(start_mutex_);
    end_process_ = std::move(end_process);
  }
  if (stopping()) EndIfStarting();
}

void Signals::Started() {
  MutexLock lock(start_mutex_);
  end_process_ = nullptr;
}

void Signals::EndIfStarting() {
  MutexLock lock(start_mutex_);
  if (end_process_ != nullptr) end_process_();
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
  ReapChildren();  // children that ended before SIGCHLD was blocked
  while (sigwait(&set, &signal) == 0 && !closed_) {
    if (signal == kWake) continue;
    if (signal == SIGCHLD) {
      ReapChildren();
      continue;
    }
    {
      MutexLock lock(mutex_);
      if (signal == SIGHUP) {
        reload_ = true;
      } else {
        if (stopping_) std::_Exit(1);
        stopping_ = true;
      }
      changed_.notify_all();
    }
    if (signal != SIGHUP) EndIfStarting();
  }
}

}  // namespace attend
