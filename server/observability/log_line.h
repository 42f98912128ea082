#ifndef ATTEND_SERVER_OBSERVABILITY_LOG_LINE_H_
#define ATTEND_SERVER_OBSERVABILITY_LOG_LINE_H_

#include <cmath>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace attend {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// "debug", "info", "warning" or "error"; otherwise INVALID_ARGUMENT.
absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view name);
absl::string_view LogLevelName(LogLevel level);

enum class LogFormat { kLogfmt, kJson };

// "logfmt" or "json"; otherwise INVALID_ARGUMENT.
absl::StatusOr<LogFormat> ParseLogFormat(absl::string_view name);
absl::string_view LogFormatName(LogFormat format);

// A named value of a log line. Without a name it is left out.
struct LogField {
  LogField(absl::string_view name, absl::string_view text)
      : key(name), value(text) {}
  template <typename T>
  requires std::is_arithmetic_v<T> LogField(absl::string_view name, T number)
      : key(name),
        value(absl::StrCat(number)),
        is_number(std::isfinite(static_cast<double>(number))) {}
  // Durations are written in seconds.
  LogField(absl::string_view name, absl::Duration duration)
      : LogField(name, absl::ToDoubleSeconds(duration)) {}

  absl::string_view key;
  std::string value;
  bool is_number = false;
};

// One event, with a newline at its end.
//
//   kLogfmt: `time=... level=info event=call code=OK`. A value that is more
//            than a plain word is quoted and escaped to printable ASCII.
//   kJson:   `{"time":"...","level":"info","event":"call","code":"OK"}`.
//            Numbers are numbers; a byte that is not UTF-8 is U+FFFD.
//
// No value can forge a line or a field.
std::string FormatLogLine(LogFormat format, absl::Time time, LogLevel level,
                          absl::string_view event,
                          std::initializer_list<LogField> fields);

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_LOG_LINE_H_
