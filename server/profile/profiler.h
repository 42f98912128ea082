#ifndef ATTEND_SERVER_PROFILE_PROFILER_H_
#define ATTEND_SERVER_PROFILE_PROFILER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "server/profile/profile_buffer.h"
#include "server/profile/trace_events.h"

namespace attend {

// A recorded profile.
struct Profile {
  std::string trace;    // see TraceEvents()
  int64_t dropped = 0;  // events that did not fit
};

// Records what the process computes, one profile at a time. Thread-safe. Must
// outlive whatever computes; before the first profile it costs no memory but
// that of a few numbers for each thread.
class Profiler {
 public:
  static constexpr absl::Duration kMaxTime = absl::Seconds(60);
  // Events of one profile: 24 MB while it is recorded, and at its end at most
  // some 130 MB more, for the text while it grows.
  static constexpr size_t kMaxEvents = size_t{1} << 19;

  // INVALID_ARGUMENT unless `time` is in (0, kMaxTime].
  static absl::Status CheckTime(absl::Duration time);

  // `version`: of the build.
  explicit Profiler(std::string version) : version_(std::move(version)) {}
  ~Profiler() { End(); }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  using Done =
      std::function<void(absl::StatusOr<std::shared_ptr<const Profile>>)>;
  // Begins a profile, and returns its number. `by` says to others who records.
  // `done` is called once, on a thread of the Profiler, when it has ended; it
  // may not call the Profiler. An error: it is not called. As CheckTime();
  // FAILED_PRECONDITION while another is recorded, or somebody has the profile
  // that was recorded last; UNAVAILABLE after End(); RESOURCE_EXHAUSTED if
  // there is no memory, or no thread, for it.
  absl::StatusOr<int64_t> Start(absl::Duration time, std::string by, Done done);
  // If that profile is still recorded, it ends now: its `done` gets CANCELLED.
  // Returns at once.
  void Cancel(int64_t profile);
  // Ends a profile that is recorded, as if its time had passed, and returns
  // once its `done` has been called. No other follows.
  void End();

 private:
  // State of a profile while it is recorded.
  struct Running {
    int64_t number = 0;
    absl::Duration time;
    std::string by;
    bool cancelled = false;
  };

  absl::Status CheckAlone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run(absl::Duration time, const Done& done);
  // False: cancelled.
  bool Await(absl::Duration time);
  absl::StatusOr<std::shared_ptr<const Profile>> Written(
      const TraceFacts& facts) const;

  const std::string version_;
  ProfileBuffer buffer_;

  Mutex mutex_;
  std::condition_variable changed_;
  std::optional<Running> running_ ABSL_GUARDED_BY(mutex_);
  int64_t started_ ABSL_GUARDED_BY(mutex_) = 0;  // profiles so far
  std::weak_ptr<const Profile> last_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);  // for the last profile
};

}  // namespace attend

#endif  // ATTEND_SERVER_PROFILE_PROFILER_H_
