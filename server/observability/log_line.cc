#include "server/observability/log_line.h"

#include <iterator>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"

namespace attend {
namespace {

constexpr absl::string_view kLevelNames[] = {"debug", "info", "warning",
                                             "error"};
constexpr absl::string_view kFormatNames[] = {"logfmt", "json"};

// The place of `name` among the names of an enum.
template <typename Enum, size_t n>
absl::StatusOr<Enum> Parse(absl::string_view what, absl::string_view name,
                           const absl::string_view (&names)[n],
                           absl::string_view expected) {
  for (size_t i = 0; i < n; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      what, " is '", absl::CHexEscape(name), "', must be ", expected));
}

bool IsPlain(absl::string_view value) {
  if (value.empty()) return false;
  for (char c : value) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("._:/@+-", c)) {
      return false;
    }
  }
  return true;
}

void AppendLogfmt(absl::string_view key, absl::string_view value,
                  std::string& line) {
  if (!line.empty()) line.push_back(' ');
  if (IsPlain(value)) {
    absl::StrAppend(&line, key, "=", value);
    return;
  }
  // A command that an error names can be pasted: nothing here needs an escaped
  // single quote.
  absl::StrAppend(&line, key, "=\"",
                  absl::StrReplaceAll(absl::CHexEscape(value),
                                      {{R"(\\)", R"(\\)"}, {R"(\')", "'"}}),
                  "\"");
}

void AppendJson(absl::string_view key, absl::string_view value, bool is_number,
                std::string& line) {
  const auto quoted = [](absl::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                     nlohmann::json::error_handler_t::replace);
  };
  absl::StrAppend(&line, line.empty() ? "{" : ",", quoted(key), ":");
  absl::StrAppend(&line, is_number ? std::string(value) : quoted(value));
}

}  // namespace

absl::StatusOr<LogLevel> ParseLogLevel(absl::string_view name) {
  return Parse<LogLevel>("log level", name, kLevelNames,
                         "debug, info, warning or error");
}

absl::string_view LogLevelName(LogLevel level) {
  return kLevelNames[static_cast<int>(level)];
}

absl::StatusOr<LogFormat> ParseLogFormat(absl::string_view name) {
  return Parse<LogFormat>("log format", name, kFormatNames, "logfmt or json");
}

absl::string_view LogFormatName(LogFormat format) {
  return kFormatNames[static_cast<int>(format)];
}

std::string FormatLogLine(LogFormat format, absl::Time time, LogLevel level,
                          absl::string_view event,
                          std::initializer_list<LogField> fields) {
  std::string line;
  const auto append = [&](const LogField& field) {
    if (field.key.empty()) return;
    if (format == LogFormat::kJson) {
      AppendJson(field.key, field.value, field.is_number, line);
    } else {
      AppendLogfmt(field.key, field.value, line);
    }
  };
  append({"time",
          absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone())});
  append({"level", LogLevelName(level)});
  append({"event", event});
  for (const LogField& field : fields) append(field);
  absl::StrAppend(&line, format == LogFormat::kJson ? "}\n" : "\n");
  return line;
}

}  // namespace attend
