#ifndef ATTEND_SERVER_SERVICE_PROFILE_CONTROL_H_
#define ATTEND_SERVER_SERVICE_PROFILE_CONTROL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace attend {

// Records what the process computes, one profile at a time, for calls.
// Thread-safe.
class ProfileControl {
 public:
  using Trace = std::shared_ptr<const std::string>;
  using Done = std::function<void(absl::StatusOr<Trace>)>;

  virtual ~ProfileControl() = default;
  // Begins a profile, and returns its number. `by` says to others who records.
  // `done` is called once, on a thread of the server's own, when the profile
  // has ended. Then the ports are told, as after a step. While somebody has the
  // trace, no other profile begins. An error: `done` is not called.
  // INVALID_ARGUMENT for a time out of its limits, FAILED_PRECONDITION while
  // there is another profile, UNAVAILABLE at the server's end,
  // RESOURCE_EXHAUSTED without memory.
  virtual absl::StatusOr<int64_t> Start(absl::Duration time, std::string by,
                                        Done done) = 0;
  // Nobody wants that profile any more: if it is still recorded, it ends now,
  // and its `done` gets CANCELLED. Returns at once.
  virtual void Cancel(int64_t profile) = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_PROFILE_CONTROL_H_
