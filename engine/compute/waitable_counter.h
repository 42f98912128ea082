#ifndef ATTEND_ENGINE_COMPUTE_WAITABLE_COUNTER_H_
#define ATTEND_ENGINE_COMPUTE_WAITABLE_COUNTER_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace attend {

// A number that some threads change and others wait for. Who waits spins
// shortly and then sleeps in the kernel (futex(2)).
//
// Unlike std::atomic's wait() it never yields: beside other busy processes a
// thread that yields is put behind them for a whole time slice, milliseconds,
// where one that sleeps is let in as soon as it is woken.
class WaitableCounter {
 public:
  // `spin`: how long, at most; 0 where who waits takes the core of who works.
  explicit WaitableCounter(std::chrono::microseconds spin) : spin_(spin) {}
  WaitableCounter(const WaitableCounter&) = delete;
  WaitableCounter& operator=(const WaitableCounter&) = delete;

  uint32_t Load() const { return value_.load(std::memory_order_acquire); }
  // Before others wait, or of no interest to who does: wakes nobody.
  void Store(uint32_t value) { value_.store(value, std::memory_order_relaxed); }

  // Adds `change` (modulo 2^32), returns the sum. What was written before is
  // seen by who reads the sum.
  uint32_t Add(uint32_t change) { return value_.fetch_add(change) + change; }
  // Wakes who sleeps, after a change that they wait for.
  void Wake();

  void Await(absl::FunctionRef<bool(uint32_t)> done) const;

 private:
  const std::chrono::microseconds spin_;
  std::atomic<uint32_t> value_{0};
  mutable std::atomic<uint32_t> sleepers_{0};
};

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_WAITABLE_COUNTER_H_
