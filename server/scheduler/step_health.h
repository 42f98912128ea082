#ifndef ATTEND_SERVER_SCHEDULER_STEP_HEALTH_H_
#define ATTEND_SERVER_SCHEDULER_STEP_HEALTH_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace attend {

// Whether the steps of a model fail. One thread calls OnStep(), any thread may
// ask.
class StepHealth {
 public:
  // A step may fail for a while, where memory is short. So many in a row are no
  // accident.
  static constexpr int kFailures = 3;
  // Who is told that a model fails sends it no more work, so that no step could
  // succeed. After so long without a step the model is said to be good again;
  // the next failed step ends that.
  static constexpr absl::Duration kPause = absl::Seconds(30);

  void OnStep(bool succeeded, absl::Time now) {
    if (!succeeded) last_failure_ = absl::ToUnixNanos(now);
    failures_ = succeeded ? 0 : failures_ + 1;
  }
  bool failing(absl::Time now) const {
    return failures_ >= kFailures &&
           now - absl::FromUnixNanos(last_failure_) < kPause;
  }

 private:
  std::atomic<int64_t> failures_{0};  // since the last success
  std::atomic<int64_t> last_failure_{0};
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_STEP_HEALTH_H_
