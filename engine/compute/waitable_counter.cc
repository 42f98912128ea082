#include "engine/compute/waitable_counter.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>

namespace attend {
namespace {

// Time for which a thread spins before it yields, if it may.
constexpr std::chrono::microseconds kAlone(20);

// Both may return for no reason: callers look at the value again.
void FutexWait(const std::atomic<uint32_t>& value, uint32_t seen) {
  syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, seen, nullptr);
}

void FutexWakeAll(const std::atomic<uint32_t>& value) {
  syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE,
          std::numeric_limits<int>::max());
}

}  // namespace

bool WaitableCounter::Wake() {
  // Sequentially consistent, as are Add() and Await(): either this thread sees
  // the sleeper in the count, or the sleeper sees the change before it sleeps.
  if (sleepers_.load() == 0) return false;
  FutexWakeAll(value_);
  return true;
}

bool WaitableCounter::Await(absl::FunctionRef<bool(uint32_t)> done,
                            bool yield) const {
  const auto start = std::chrono::steady_clock::now();
  auto spent = start - start;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done(Load())) return false;
      __builtin_ia32_pause();
    }
    if (yield && spent > kAlone) sched_yield();
    spent = std::chrono::steady_clock::now() - start;
  } while (spent < spin_);
  sleepers_.fetch_add(1);
  for (uint32_t seen = value_.load(); !done(seen); seen = value_.load()) {
    FutexWait(value_, seen);
  }
  sleepers_.fetch_sub(1);
  return true;
}

}  // namespace attend
