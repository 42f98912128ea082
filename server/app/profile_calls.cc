#include "server/app/profile_calls.h"

#include <memory>
#include <utility>

#include "server/profile/profiler.h"

namespace attend {

ProfileCalls::~ProfileCalls() { profiler_.End(); }

absl::StatusOr<int64_t> ProfileCalls::Start(absl::Duration time, std::string by,
                                            Done done) {
  return profiler_.Start(
      time, std::move(by),
      [this, done = std::move(done)](
          absl::StatusOr<std::shared_ptr<const Profile>> profile) {
        if (profile.ok()) {
          // The pointer to the trace shares ownership of the profile.
          const std::string* const trace = &(*profile)->trace;
          done(Trace(*std::move(profile), trace));
        } else {
          done(profile.status());
        }
        signal_.Notify();
      });
}

void ProfileCalls::Cancel(int64_t profile) { profiler_.Cancel(profile); }

}  // namespace attend
