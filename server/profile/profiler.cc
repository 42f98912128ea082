#include "server/profile/profiler.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/compute/op_watch.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"
#include "server/profile/trace_events.h"

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

absl::Status Profiler::Start(absl::Duration time, Done done) {
  RETURN_IF_ERROR(CheckTime(time));
  MutexLock lock(mutex_);
  if (closed_) return absl::UnavailableError("server is draining");
  if (running_) {
    return absl::FailedPreconditionError(
        "a profile is recorded already, and one at a time is");
  }
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
  running_ = true;
  WatchOps(&buffer_);
  return absl::OkStatus();
}

void Profiler::Await(absl::Duration time) {
  MutexLock lock(mutex_);
  changed_.wait_for(
      lock, absl::ToChronoNanoseconds(time),
      [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closed_; });
}

void Profiler::Run(absl::Duration time, const Done& done) {
  TraceFacts facts = {.begin = buffer_.Now(), .version = version_};
  Await(time);
  WatchOps(nullptr);
  buffer_.Stop();
  facts.end = buffer_.Now();
  auto profile = CatchOutOfMemory([&]() -> absl::StatusOr<Profile> {
    return Profile{.trace = TraceEvents(buffer_, facts),
                   .dropped = buffer_.dropped()};
  });
  buffer_.Clear();
  done(std::move(profile));
  MutexLock lock(mutex_);
  running_ = false;
}

}  // namespace attend
