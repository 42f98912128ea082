#ifndef ATTEND_SERVER_APP_START_PROFILE_H_
#define ATTEND_SERVER_APP_START_PROFILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/observability/log.h"

namespace attend {

class Profiler;

// Options of the profile that is recorded once the server is ready.
struct ProfileOptions {
  absl::Duration time = absl::ZeroDuration();  // 0: none
  std::string file = "attend-profile.json";

  absl::Status Validate() const;
};

// Begins a profile if there is to be one. At its end it is written to the file,
// and the log tells of it, or of the error. `log` outlives the profiler.
void StartProfile(const ProfileOptions& options, Profiler& profiler, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_START_PROFILE_H_
