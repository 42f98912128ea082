#ifndef ATTEND_SERVER_OBSERVABILITY_LOG_H_
#define ATTEND_SERVER_OBSERVABILITY_LOG_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"

namespace attend {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// "debug", "info", "warning" or "error"; else INVALID_ARGUMENT.
absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view name);
absl::string_view LogLevelName(LogLevel level);

// A named value of a log line.
struct LogField {
  LogField(absl::string_view name, const absl::AlphaNum& text)
      : key(name), value(text.Piece()) {}
  // Durations are written in seconds.
  LogField(absl::string_view name, absl::Duration duration)
      : key(name), value(absl::StrCat(absl::ToDoubleSeconds(duration))) {}
  absl::string_view key;
  std::string value;
};

// One event in logfmt, with a newline at its end: `time=... level=info
// event=call code=OK`. A value that is more than a plain word is quoted and
// escaped to printable ASCII, so that no input can forge a line or a field.
std::string FormatLogLine(absl::Time time, LogLevel level,
                          absl::string_view event,
                          std::initializer_list<LogField> fields);

// Writes events to a file descriptor. The writing is done by a thread of the
// Log, so callers never wait for a slow terminal or pipe. New lines are dropped
// while kMaxQueuedLines lines wait, or when there is no memory for them, and
// one line says how many. A line that the descriptor does not take, for example
// because a disk is full, is lost. Thread-safe. The destructor writes the lines
// that still wait, for at most kLastWords.
class Log {
 public:
  static constexpr size_t kMaxQueuedLines = 4096;
  static constexpr absl::Duration kLastWords = absl::Seconds(1);

  Log(LogLevel min_level, int file_descriptor);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  bool enabled(LogLevel level) const { return level >= min_level_; }
  void Write(LogLevel level, absl::string_view event,
             std::initializer_list<LogField> fields);

 private:
  // Not OK: too many lines wait.
  absl::Status Queue(std::string line);
  void RunWriter();
  // False as of WriteAll().
  bool TellOfDropped(int64_t lines);
  // False: nobody has taken it, and the log is about to go.
  bool WriteAll(absl::string_view text);
  // Waits until the descriptor takes PIPE_BUF bytes, or the log has to go.
  bool WaitUntilWritable();

  const LogLevel min_level_;
  const int file_descriptor_;

  Mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the last words, in nanoseconds of SteadyNow() since 1970; far away until
  // closed_ is true.
  std::atomic<int64_t> end_{INT64_MAX};

  std::thread writer_;  // last: it uses all of the above
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_LOG_H_
