#include "server/observability/log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <utility>

#include "absl/time/clock.h"
#include "engine/tensor/out_of_memory.h"
#include "server/scheduler/clock.h"

namespace attend {

Log::Log(const LogOptions& options, int file_descriptor)
    : options_(options),
      file_descriptor_(file_descriptor),
      writer_([this] { RunWriter(); }) {}

Log::~Log() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    end_ = absl::ToUnixNanos(SteadyNow() + kLastWords);
  }
  changed_.notify_one();
  writer_.join();
}

bool Log::WantsCall() {
  const double call = static_cast<double>(calls_++);
  return std::floor((call + 1) * options_.call_share) >
         std::floor(call * options_.call_share);
}

void Log::Write(LogLevel level, absl::string_view event,
                std::initializer_list<LogField> fields) {
  if (!enabled(level)) return;
  const absl::Status queued = CatchOutOfMemory([&] {
    return Queue(
        FormatLogLine(options_.format, absl::Now(), level, event, fields));
  });
  if (queued.ok()) return changed_.notify_one();
  MutexLock lock(mutex_);
  ++dropped_;
}

absl::Status Log::Queue(std::string line) {
  MutexLock lock(mutex_);
  if (lines_.size() >= kMaxQueuedLines) return OutOfMemory();
  lines_.push_back(std::move(line));
  return absl::OkStatus();
}

// A write of no more than PIPE_BUF bytes to a pipe that is ready does not wait.
// The descriptor stays as it is, since others may have it too: O_NONBLOCK would
// be theirs as well.
bool Log::WaitUntilWritable() {
  constexpr int kMillis = 100;  // how late an end is seen
  pollfd descriptor = {.fd = file_descriptor_, .events = POLLOUT, .revents = 0};
  while (absl::ToUnixNanos(SteadyNow()) < end_) {
    if (poll(&descriptor, 1, kMillis) > 0) return true;
  }
  return false;
}

bool Log::WriteAll(absl::string_view text) {
  while (!text.empty()) {
    if (!WaitUntilWritable()) return false;
    const ssize_t written = write(file_descriptor_, text.data(),
                                  std::min<size_t>(text.size(), PIPE_BUF));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) return true;  // nowhere left to complain
    text.remove_prefix(written);
  }
  return true;
}

void Log::RunWriter() {
  std::vector<std::string> lines;  // neither list gives its memory back
  MutexLock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return closed_ || !lines_.empty();
    });
    if (lines_.empty()) return;
    lines.swap(lines_);
    const int64_t dropped = std::exchange(dropped_, 0);
    lock.unlock();
    for (const std::string& line : lines) {
      if (!WriteAll(line)) return;
    }
    if (dropped > 0 && !TellOfDropped(dropped)) return;
    lines.clear();
    lock.lock();
  }
}

bool Log::TellOfDropped(int64_t lines) {
  const auto line = CatchOutOfMemory([&]() -> absl::StatusOr<std::string> {
    return FormatLogLine(options_.format, absl::Now(), LogLevel::kWarning,
                         "log_dropped", {{"lines", lines}});
  });
  if (line.ok()) return WriteAll(*line);
  MutexLock lock(mutex_);
  dropped_ += lines;  // to be told of with the next ones
  return true;
}

}  // namespace attend
