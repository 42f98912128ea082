#include "server/app/signals.h"

#include <pthread.h>
#include <signal.h>

#include <cstdlib>

namespace attend {
namespace {

// Also the signal by which the destructor ends the thread.
constexpr int kStop = SIGUSR1;

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, kStop}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Signals::Signals() {
  const sigset_t set = Watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a closed log pipe must not end the server
  thread_ = std::thread([this] { RunThread(); });
}

Signals::~Signals() {
  pthread_kill(thread_.native_handle(), kStop);
  thread_.join();
}

void Signals::WaitForFirst() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return received_; });
}

bool Signals::received() {
  std::lock_guard lock(mutex_);
  return received_;
}

void Signals::RunThread() {
  const sigset_t set = Watched();
  int signal = 0;
  while (sigwait(&set, &signal) == 0 && signal != kStop) {
    std::lock_guard lock(mutex_);
    if (received_) std::_Exit(1);
    received_ = true;
    changed_.notify_all();
  }
}

}  // namespace attend
