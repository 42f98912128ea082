#ifndef ATTEND_SERVER_OBSERVABILITY_LOG_H_
#define ATTEND_SERVER_OBSERVABILITY_LOG_H_

#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "server/observability/line_writer.h"
#include "server/observability/log_line.h"

namespace attend {

struct LogOptions {
  LogLevel min_level = LogLevel::kInfo;  // lines below are left out
  LogFormat format = LogFormat::kLogfmt;
};

// Writes events to a file descriptor, which must outlive the Log. Nobody waits
// for it: see LineWriter. Thread-safe.
class Log {
 public:
  static constexpr size_t kMaxQueuedLines = LineWriter::kMaxQueuedLines;
  static constexpr absl::Duration kLastWords = LineWriter::kLastWords;

  Log(const LogOptions& options, int file_descriptor);

  bool enabled(LogLevel level) const { return level >= options_.min_level; }
  LogFormat format() const { return options_.format; }
  void Write(LogLevel level, absl::string_view event,
             std::initializer_list<LogField> fields) {
    WriteAs(options_.format, level, event, fields);
  }
  // The same in another format than that of the log.
  void WriteAs(LogFormat format, LogLevel level, absl::string_view event,
               std::initializer_list<LogField> fields);
  // Waits until all lines so far have left the process, for at most `most`. For
  // a process that ends without destructors.
  void Flush(absl::Duration most) { writer_.Flush(most); }
  // The lines that were dropped or lost so far.
  int64_t dropped() const { return writer_.dropped(); }

 private:
  const LogOptions options_;
  LineWriter writer_;
};

// The line that tells of lines that were dropped.
std::string DroppedLinesLine(LogFormat format, int64_t lines);

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_LOG_H_
