#include "server/observability/log.h"

#include "absl/time/clock.h"

namespace attend {

Log::Log(const LogOptions& options, int file_descriptor)
    : options_(options),
      writer_(file_descriptor, [format = options.format](int64_t lines) {
        return DroppedLinesLine(format, lines);
      }) {}

void Log::WriteAs(LogFormat format, LogLevel level, absl::string_view event,
                  std::initializer_list<LogField> fields) {
  if (!enabled(level)) return;
  writer_.Write(
      [&] { return FormatLogLine(format, absl::Now(), level, event, fields); });
}

std::string DroppedLinesLine(LogFormat format, int64_t lines) {
  return FormatLogLine(format, absl::Now(), LogLevel::kWarning, "log_dropped",
                       {{"lines", lines}});
}

}  // namespace attend
