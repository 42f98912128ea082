#include "server/observability/log.h"

#include <unistd.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"

namespace attend {
namespace {

constexpr absl::string_view kLevelNames[] = {"debug", "info", "warning",
                                             "error"};

bool IsPlain(absl::string_view value) {
  if (value.empty()) return false;
  for (char c : value) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("._:/@+-", c)) {
      return false;
    }
  }
  return true;
}

void WriteAll(int file_descriptor, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file_descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nowhere left to complain
    text.remove_prefix(written);
  }
}

}  // namespace

absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view name) {
  for (int i = 0; i < 4; ++i) {
    if (name == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("log level is '", absl::CHexEscape(name),
                   "', must be debug, info, warning or error"));
}

absl::string_view LogLevelName(LogLevel level) {
  return kLevelNames[static_cast<int>(level)];
}

std::string FormatLogLine(absl::Time time, LogLevel level,
                          absl::string_view event,
                          std::initializer_list<LogField> fields) {
  std::string line = absl::StrCat(
      "time=",
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()),
      " level=", LogLevelName(level), " event=", event);
  for (const LogField& field : fields) {
    if (IsPlain(field.value)) {
      absl::StrAppend(&line, " ", field.key, "=", field.value);
    } else {
      absl::StrAppend(&line, " ", field.key, "=\"",
                      absl::CHexEscape(field.value), "\"");
    }
  }
  line.push_back('\n');
  return line;
}

Log::Log(LogLevel min_level, int file_descriptor)
    : min_level_(min_level),
      file_descriptor_(file_descriptor),
      writer_([this] { RunWriter(); }) {}

Log::~Log() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  writer_.join();
}

void Log::Write(LogLevel level, absl::string_view event,
                std::initializer_list<LogField> fields) {
  if (!enabled(level)) return;
  std::string line = FormatLogLine(absl::Now(), level, event, fields);
  {
    std::lock_guard lock(mutex_);
    if (lines_.size() >= kMaxQueuedLines) {
      ++dropped_;
      return;
    }
    lines_.push_back(std::move(line));
  }
  changed_.notify_one();
}

void Log::RunWriter() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !lines_.empty(); });
    if (lines_.empty()) return;
    std::deque<std::string> lines = std::exchange(lines_, {});
    const int64_t dropped = std::exchange(dropped_, 0);
    lock.unlock();
    for (const std::string& line : lines) WriteAll(file_descriptor_, line);
    if (dropped > 0) {
      WriteAll(file_descriptor_,
               FormatLogLine(absl::Now(), LogLevel::kWarning, "log_dropped",
                             {{"lines", dropped}}));
    }
    lock.lock();
  }
}

}  // namespace attend
