#ifndef ATTEND_TESTS_SUPPORT_MANUAL_CLOCK_H_
#define ATTEND_TESTS_SUPPORT_MANUAL_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "server/scheduler/scheduler.h"

namespace attend {

// A clock that a test moves by hand. Thread-safe.
class ManualClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::FromUnixNanos(nanos_.load()); }
  void Advance(absl::Duration duration) {
    nanos_.fetch_add(absl::ToInt64Nanoseconds(duration));
  }

 private:
  std::atomic<int64_t> nanos_ = 1'000'000'000'000;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_MANUAL_CLOCK_H_
