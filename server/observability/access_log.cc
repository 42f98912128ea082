#include "server/observability/access_log.h"

#include <fcntl.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr absl::string_view kFormNames[] = {"auto", "off", "logfmt", "json"};

LogFormat FormatOf(AccessLogForm form, const Log& log) {
  switch (form) {
    case AccessLogForm::kLogfmt:
      return LogFormat::kLogfmt;
    case AccessLogForm::kJson:
      return LogFormat::kJson;
    case AccessLogForm::kAuto:
    case AccessLogForm::kOff:
      break;
  }
  return log.format();
}

// Without O_NONBLOCK, opening a FIFO would wait for its reader.
absl::StatusOr<int> OpenAccessLog(const std::string& path) {
  const int descriptor = open(
      path.c_str(),
      O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
  if (descriptor >= 0) return descriptor;
  return absl::FailedPreconditionError(absl::StrCat(
      "access_log_file '", path,
      "': ", errno == ENXIO ? "nobody reads it" : std::strerror(errno)));
}

}  // namespace

absl::StatusOr<AccessLogForm> ParseAccessLogForm(absl::string_view name) {
  for (size_t i = 0; i < std::size(kFormNames); ++i) {
    if (name == kFormNames[i]) return static_cast<AccessLogForm>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("access log is '", absl::CHexEscape(name),
                   "', must be auto, off, logfmt or json"));
}

absl::string_view AccessLogFormName(AccessLogForm form) {
  return kFormNames[static_cast<int>(form)];
}

AccessLog::AccessLog(const AccessLogOptions& options, Log& log)
    : options_(options), format_(FormatOf(options.form, log)), log_(log) {}

absl::StatusOr<std::unique_ptr<AccessLog>> AccessLog::Open(
    const AccessLogOptions& options, Log& log) {
  auto access_log = absl::WrapUnique(new AccessLog(options, log));
  if (options.form == AccessLogForm::kOff || options.file.empty()) {
    return access_log;
  }
  ASSIGN_OR_RETURN(const int descriptor, OpenAccessLog(options.file));
  access_log->file_.emplace(-1, [format = access_log->format_](int64_t lines) {
    return DroppedLinesLine(format, lines);
  });
  access_log->file_->SwitchTo(descriptor);
  return access_log;
}

absl::Status AccessLog::Reopen() {
  if (!file_) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int descriptor, OpenAccessLog(options_.file));
  file_->SwitchTo(descriptor);
  return absl::OkStatus();
}

bool AccessLog::Wants(const absl::Status& status) {
  if (options_.form == AccessLogForm::kOff) return false;
  if (!file_ && !log_.enabled(LogLevel::kInfo)) return false;
  if (!status.ok()) return true;
  const double call = static_cast<double>(calls_++);
  return std::floor((call + 1) * options_.share) >
         std::floor(call * options_.share);
}

void AccessLog::Write(std::initializer_list<LogField> fields) {
  constexpr absl::string_view kEvent = "call";
  if (!file_) return log_.WriteAs(format_, LogLevel::kInfo, kEvent, fields);
  file_->Write([&] {
    return FormatLogLine(format_, absl::Now(), LogLevel::kInfo, kEvent, fields);
  });
}

}  // namespace attend
