#ifndef ATTEND_ENGINE_COMPUTE_WAITABLE_COUNTER_H_
#define ATTEND_ENGINE_COMPUTE_WAITABLE_COUNTER_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace attend {

// A counter that some threads change while other threads wait for a change. A
// waiting thread spins for a short time and then sleeps in the kernel
// (futex(2)).
//
// Unlike in std::atomic's wait(), a waiting thread yields only if its caller
// allows it. With other busy processes, a thread that yields loses a whole time
// slice (milliseconds); a sleeping thread runs as soon as it is woken.
class WaitableCounter {
 public:
  // `spin`: the longest time that a waiting thread spins. 0 where a waiting
  // thread would take the core from a working one.
  explicit WaitableCounter(std::chrono::microseconds spin) : spin_(spin) {}
  WaitableCounter(const WaitableCounter&) = delete;
  WaitableCounter& operator=(const WaitableCounter&) = delete;

  uint32_t Load() const { return value_.load(std::memory_order_acquire); }
  // Wakes no thread: for use before others wait, or for values that nobody
  // waits for.
  void Store(uint32_t value) { value_.store(value, std::memory_order_relaxed); }

  // Adds `change` (modulo 2^32) and returns the sum. A thread that reads the
  // sum sees what this thread wrote before.
  uint32_t Add(uint32_t change) { return value_.fetch_add(change) + change; }
  // Wakes all sleeping threads. To be called after a change that they wait for.
  // Returns whether a thread slept.
  bool Wake();

  // Returns when done(value) is true. `yield`: a thread that spins lets others
  // have its CPU, because one of them may be the thread that it waits for.
  // False: the thread only spun.
  bool Await(absl::FunctionRef<bool(uint32_t)> done, bool yield = false) const;

 private:
  const std::chrono::microseconds spin_;
  std::atomic<uint32_t> value_{0};
  mutable std::atomic<uint32_t> sleepers_{0};
};

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_WAITABLE_COUNTER_H_
