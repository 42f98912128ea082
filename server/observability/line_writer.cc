#include "server/observability/line_writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/tensor/out_of_memory.h"
#include "server/scheduler/clock.h"

namespace attend {

LineWriter::LineWriter(int file_descriptor, DroppedLine dropped_line)
    : dropped_line_(std::move(dropped_line)),
      file_descriptor_(file_descriptor),
      writer_([this] { RunWriter(); }) {}

LineWriter::~LineWriter() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    end_ = absl::ToUnixNanos(SteadyNow() + kLastWords);
  }
  changed_.notify_one();
  writer_.join();
  Switch();
  if (owned_) close(file_descriptor_);
}

void LineWriter::Write(absl::FunctionRef<std::string()> make) {
  const absl::Status queued = CatchOutOfMemory([&] { return Queue(make()); });
  if (queued.ok()) return changed_.notify_one();
  ++all_dropped_;
  MutexLock lock(mutex_);
  ++dropped_;
}

void LineWriter::Flush(absl::Duration most) {
  MutexLock lock(mutex_);
  written_.wait_for(lock, absl::ToChronoNanoseconds(most),
                    [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                      return lines_.empty() && !writing_;
                    });
}

absl::Status LineWriter::Queue(std::string line) {
  MutexLock lock(mutex_);
  if (lines_.size() >= kMaxQueuedLines) return OutOfMemory();
  lines_.push_back(std::move(line));
  return absl::OkStatus();
}

void LineWriter::SwitchTo(int file_descriptor) {
  int unused = -1;
  {
    MutexLock lock(mutex_);
    unused = next_descriptor_.exchange(file_descriptor);
  }
  changed_.notify_one();
  if (unused >= 0) close(unused);
}

bool LineWriter::Switch() {
  const int next = next_descriptor_.exchange(-1);
  if (next < 0) return false;
  if (owned_) close(file_descriptor_);
  file_descriptor_ = next;
  owned_ = true;
  torn_ = false;
  return true;
}

// A write of no more than PIPE_BUF bytes to a pipe that is ready does not wait.
// The descriptor stays as it is, since others may have it too: O_NONBLOCK would
// be theirs as well.
bool LineWriter::WaitUntilWritable() {
  constexpr int kMillis = 100;  // maximum delay of an end or a switch
  pollfd descriptor = {.fd = file_descriptor_, .events = POLLOUT, .revents = 0};
  while (absl::ToUnixNanos(SteadyNow()) < end_) {
    if (poll(&descriptor, 1, kMillis) > 0 || next_descriptor_ >= 0) return true;
  }
  return false;
}

bool LineWriter::WriteAll(absl::string_view line) {
  absl::string_view rest = line;
  while (!rest.empty()) {
    if (Switch()) rest = line;
    if (!WaitUntilWritable()) return false;
    if (next_descriptor_ >= 0) continue;
    // A partially written line remains a separate line.
    const absl::string_view part = torn_ ? "\n" : rest.substr(0, PIPE_BUF);
    const ssize_t written = write(file_descriptor_, part.data(), part.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) {  // nowhere left to complain
      torn_ = torn_ || rest.size() < line.size();
      ++all_dropped_;
      return true;
    }
    if (!torn_) rest.remove_prefix(written);
    torn_ = false;
  }
  return true;
}

void LineWriter::RunWriter() {
  std::vector<std::string> lines;  // neither list gives its memory back
  MutexLock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return closed_ || !lines_.empty() || next_descriptor_ >= 0;
    });
    if (lines_.empty() && closed_) return;
    if (lines_.empty()) {
      lock.unlock();  // to close a file may take long
      Switch();       // and gives back the descriptor before
      lock.lock();
      continue;
    }
    lines.swap(lines_);
    writing_ = true;
    const int64_t dropped = std::exchange(dropped_, 0);
    lock.unlock();
    for (const std::string& line : lines) {
      if (!WriteAll(line)) return;
    }
    if (dropped > 0 && !TellOfDropped(dropped)) return;
    lines.clear();
    lock.lock();
    writing_ = false;
    written_.notify_all();
  }
}

bool LineWriter::TellOfDropped(int64_t lines) {
  const auto line = CatchOutOfMemory(
      [&]() -> absl::StatusOr<std::string> { return dropped_line_(lines); });
  if (line.ok()) return WriteAll(*line);
  MutexLock lock(mutex_);
  dropped_ += lines;  // to be told of with the next ones
  return true;
}

}  // namespace attend
