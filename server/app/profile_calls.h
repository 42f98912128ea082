#ifndef ATTEND_SERVER_APP_PROFILE_CALLS_H_
#define ATTEND_SERVER_APP_PROFILE_CALLS_H_

#include <cstdint>
#include <string>

#include "server/service/profile_control.h"
#include "server/service/step_signal.h"

namespace attend {

class Profiler;

// The profiles of calls, which a Profiler records. Both arguments must outlive
// the ProfileCalls, whose end is that of the Profiler's work.
class ProfileCalls final : public ProfileControl {
 public:
  ProfileCalls(Profiler& profiler, StepSignal& signal)
      : profiler_(profiler), signal_(signal) {}
  ~ProfileCalls() override;

  absl::StatusOr<int64_t> Start(absl::Duration time, std::string by,
                                Done done) override;
  void Cancel(int64_t profile) override;

 private:
  Profiler& profiler_;
  StepSignal& signal_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_PROFILE_CALLS_H_
