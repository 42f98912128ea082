#ifndef ATTEND_CLIENT_CPP_CLI_REPORT_FILE_H_
#define ATTEND_CLIENT_CPP_CLI_REPORT_FILE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// A file that is opened before the work whose report it gets, so that hours are
// not lost to a name that cannot be written. What it had stays until then; if
// no report comes, a file that was not there is not there again.
class ReportFile {
 public:
  // NOT_FOUND: the file cannot be written.
  static absl::StatusOr<ReportFile> Open(const std::string& path);
  ~ReportFile();
  ReportFile(ReportFile&& other) noexcept;
  ReportFile& operator=(ReportFile&&) = delete;

  // Makes `text` all that the file has. NOT_FOUND: it does not take all of it.
  absl::Status Write(absl::string_view text);

 private:
  ReportFile(std::string path, int file, bool is_new)
      : path_(std::move(path)), file_(file), is_new_(is_new) {}

  const std::string path_;
  int file_;     // descriptor
  bool is_new_;  // made by Open(), and not written yet
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_REPORT_FILE_H_
