#ifndef ATTEND_TESTS_SUPPORT_WAIT_UNTIL_H_
#define ATTEND_TESTS_SUPPORT_WAIT_UNTIL_H_

#include <functional>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace attend {

// Asks again and again; false after a minute, which only a hang takes.
inline bool WaitUntil(const std::function<bool()>& condition) {
  const absl::Time limit = absl::Now() + absl::Minutes(1);
  while (!condition()) {
    if (absl::Now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_WAIT_UNTIL_H_
