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
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "server/observability/log_line.h"

namespace attend {

struct LogOptions {
  LogLevel min_level = LogLevel::kInfo;  // lines below are left out
  LogFormat format = LogFormat::kLogfmt;
  // The share of calls that have a line: 1 all, 0.01 one in 100, 0 none.
  double call_share = 1;
};

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

  Log(const LogOptions& options, int file_descriptor);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  bool enabled(LogLevel level) const { return level >= options_.min_level; }
  LogFormat format() const { return options_.format; }
  // Whether the next call has a line. Calls with one are evenly spaced.
  bool WantsCall();
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

  const LogOptions options_;
  const int file_descriptor_;

  Mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the last words, in nanoseconds of SteadyNow() since 1970; far away until
  // closed_ is true.
  std::atomic<int64_t> end_{INT64_MAX};

  std::atomic<uint64_t> calls_ = 0;

  std::thread writer_;  // last: it uses all of the above
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_LOG_H_
