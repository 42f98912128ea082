#include "engine/json/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr int64_t kMaxBytes = int64_t{64} << 20;

class OpenFile {
 public:
  // The type is checked after opening, so the file cannot be replaced in
  // between. O_NONBLOCK avoids waiting for a pipe without a writer.
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

absl::Status Unreadable(const std::string& path, absl::string_view reason) {
  return absl::UnavailableError(
      absl::StrCat(path, ": cannot be read: ", reason));
}

absl::Status CannotOpen(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  }
  if (error == ENXIO) {  // a socket, or a device that is not there
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a regular file"));
  }
  return Unreadable(path, std::strerror(error));
}

absl::StatusOr<size_t> CheckedSize(const std::string& path, int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return Unreadable(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a regular file"));
  }
  if (status.st_size > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", status.st_size, " bytes, limit is ", kMaxBytes, " bytes"));
  }
  return static_cast<size_t>(status.st_size);
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const OpenFile file(path);
  if (file.fd() < 0) return CannotOpen(path, errno);
  ASSIGN_OR_RETURN(const size_t size, CheckedSize(path, file.fd()));
  std::string contents(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file.fd(), contents.data() + done, size - done);
    if (got > 0) {
      done += got;
    } else if (got == 0) {
      return Unreadable(
          path, absl::StrCat("it ends after ", done, " of ", size, " bytes"));
    } else if (errno != EINTR) {
      return Unreadable(path, std::strerror(errno));
    }
  }
  return contents;
}

}  // namespace attend
