#ifndef ATTEND_SERVER_OBSERVABILITY_ACCESS_LOG_H_
#define ATTEND_SERVER_OBSERVABILITY_ACCESS_LOG_H_

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/observability/line_writer.h"
#include "server/observability/log.h"
#include "server/observability/log_line.h"

namespace attend {

// kAuto: in the format of the log.
enum class AccessLogForm { kAuto, kOff, kLogfmt, kJson };

// "auto", "off", "logfmt" or "json"; otherwise INVALID_ARGUMENT.
absl::StatusOr<AccessLogForm> ParseAccessLogForm(absl::string_view name);
absl::string_view AccessLogFormName(AccessLogForm form);

struct AccessLogOptions {
  AccessLogForm form = AccessLogForm::kAuto;
  std::string file = "";  // empty: between the other lines of the log
  // The share of calls that have a line: 1 all, 0.01 one in 100, 0 none. Calls
  // that fail have a line at any share.
  double share = 1;
};

// Writes a line for each finished call, to the log if its level allows, or to a
// separate file. Neither ever blocks: see LineWriter. Thread-safe.
class AccessLog {
 public:
  // Appends to the file, which is made if there is none. `log` outlives the
  // AccessLog. An error names the file.
  static absl::StatusOr<std::unique_ptr<AccessLog>> Open(
      const AccessLogOptions& options, Log& log);

  // Returns true if the call that ended with `status` is logged. Logged calls
  // are evenly spaced among those that did not fail.
  bool Wants(const absl::Status& status);
  void Write(std::initializer_list<LogField> fields);

  bool has_file() const { return file_.has_value(); }
  // Reopens the file, which may have been moved away. If it cannot be
  // opened, the old one stays. An error names the file.
  absl::Status Reopen();
  // The lines for the file that were dropped or lost so far.
  int64_t dropped() const { return file_ ? file_->dropped() : 0; }

 private:
  AccessLog(const AccessLogOptions& options, Log& log);

  const AccessLogOptions options_;
  const LogFormat format_;
  Log& log_;
  std::atomic<uint64_t> calls_ = 0;
  std::optional<LineWriter> file_;  // none: the lines go to log_
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_ACCESS_LOG_H_
