#include "client/cpp/cli/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

absl::Status CannotWriteReport(const std::string& path) {
  return absl::NotFoundError(
      absl::StrCat(path, ": cannot write: ", std::strerror(errno)));
}

// Only a file of a disk has bytes of before.
bool IsDiskFile(int file) {
  struct stat found;
  return fstat(file, &found) == 0 && S_ISREG(found.st_mode);
}

}  // namespace

absl::StatusOr<ReportFile> ReportFile::Open(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC;
  int file = open(path.c_str(), kFlags | O_EXCL, 0666);
  const bool is_new = file >= 0;
  if (!is_new) file = open(path.c_str(), kFlags, 0666);
  if (file < 0) return CannotWriteReport(path);
  return ReportFile(path, file, is_new);
}

ReportFile::~ReportFile() {
  if (file_ < 0) return;
  if (is_new_) unlink(path_.c_str());
  close(file_);
}

ReportFile::ReportFile(ReportFile&& other) noexcept
    : path_(other.path_),
      file_(std::exchange(other.file_, -1)),
      is_new_(other.is_new_) {}

absl::Status ReportFile::Write(absl::string_view text) {
  is_new_ = false;
  if (IsDiskFile(file_) && ftruncate(file_, 0) != 0) {
    return CannotWriteReport(path_);
  }
  while (!text.empty()) {
    const ssize_t count = write(file_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotWriteReport(path_);
    text.remove_prefix(count);
  }
  return absl::OkStatus();
}

}  // namespace attend
