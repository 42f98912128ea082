#include "server/profile/profiler.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/compute/op_watch.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::Status Profiler::CheckTime(absl::Duration time) {
  if (time > absl::ZeroDuration() && time <= kMaxTime) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a profile of ", absl::FormatDuration(time),
                   " is wanted, must be in (0, 60s]"));
}

void Profiler::End() {
  std::thread last;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    last = std::move(thread_);
  }
  changed_.notify_all();
  if (last.joinable()) last.join();
}

absl::Status Profiler::CheckAlone() const {
  if (closed_) return absl::UnavailableError("server is draining");
  if (running_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a profile of ", absl::FormatDuration(running_->time),
        " is recorded already (", running_->by, "), and one at a time is"));
  }
  if (last_.expired()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the profile before this one is still on its way to its caller, and "
      "there is one at a time");
}

absl::StatusOr<int64_t> Profiler::Start(absl::Duration time, std::string by,
                                        Done done) {
  RETURN_IF_ERROR(CheckTime(time));
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(CheckAlone());
  if (thread_.joinable()) thread_.join();  // nothing is left for it to do
  RETURN_IF_ERROR(CatchOutOfMemory([&] {
    buffer_.Start(kMaxEvents);
    return absl::OkStatus();
  }));
  try {
    thread_ =
        std::thread([this, time, done = std::move(done)] { Run(time, done); });
  } catch (const std::exception& error) {  // no thread, or no memory for it
    buffer_.Stop();
    buffer_.Clear();
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread for a profile: ", error.what()));
  }
  running_ = {.number = ++started_, .time = time, .by = std::move(by)};
  WatchOps(&buffer_);
  return started_;
}

void Profiler::Cancel(int64_t profile) {
  {
    MutexLock lock(mutex_);
    if (!running_ || running_->number != profile) return;
    running_->cancelled = true;
  }
  changed_.notify_all();
}

bool Profiler::Await(absl::Duration time) {
  MutexLock lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(time),
                    [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                      return closed_ || running_->cancelled;
                    });
  return !running_->cancelled;
}

absl::StatusOr<std::shared_ptr<const Profile>> Profiler::Written(
    const TraceFacts& facts) const {
  return CatchOutOfMemory(
      [&]() -> absl::StatusOr<std::shared_ptr<const Profile>> {
        return std::make_shared<const Profile>(
            Profile{.trace = TraceEvents(buffer_, facts),
                    .dropped = buffer_.dropped()});
      });
}

void Profiler::Run(absl::Duration time, const Done& done) {
  TraceFacts facts = {.begin = buffer_.Now(), .version = version_};
  const bool wanted = Await(time);
  WatchOps(nullptr);
  buffer_.Stop();
  facts.end = buffer_.Now();
  auto profile = wanted ? Written(facts)
                        : absl::CancelledError("the profile was cancelled");
  buffer_.Clear();
  {
    MutexLock lock(mutex_);
    if (profile.ok()) last_ = *profile;
    running_.reset();
  }
  done(std::move(profile));
}

}  // namespace attend
