#include "server/hub/blob_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/tensor/status_macros.h"
#include "server/hub/content_hash.h"

namespace attend {
namespace {

constexpr absl::Duration kLockInterval = absl::Milliseconds(20);

absl::Status ErrnoError(absl::string_view what, const std::string& path) {
  const int code = errno;
  const std::string text =
      absl::StrCat(path, ": cannot ", what, ": ", std::strerror(code));
  return code == ENOSPC || code == EDQUOT || code == EFBIG
             ? absl::ResourceExhaustedError(text)
             : absl::FailedPreconditionError(text);
}

}  // namespace

absl::StatusOr<BlobFile> BlobFile::Open(const std::string& path, int64_t size) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return ErrnoError("be opened", path);
  BlobFile file(path, descriptor, size);
  file.written_ = lseek(descriptor, 0, SEEK_END);
  if (file.written_ < 0 || file.written_ > size) {
    RETURN_IF_ERROR(file.Clear());
  }
  return file;
}

BlobFile::~BlobFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

BlobFile::BlobFile(BlobFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      written_(other.written_) {}

absl::Status BlobFile::Error(absl::string_view what) const {
  return ErrnoError(what, path_);
}

absl::Status BlobFile::Clear() {
  if (ftruncate(descriptor_, 0) != 0) return Error("be cut");
  written_ = 0;
  return absl::OkStatus();
}

absl::Status BlobFile::Append(absl::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) > size_ - written_) {
    return absl::DataLossError(
        absl::StrCat(path_, ": the server sends more than the ", size_,
                     " bytes that it has announced"));
  }
  while (!bytes.empty()) {
    const ssize_t count =
        pwrite(descriptor_, bytes.data(), bytes.size(), written_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error("be written");
    bytes.remove_prefix(static_cast<size_t>(count));
    written_ += count;
  }
  return absl::OkStatus();
}

absl::Status BlobFile::CheckHash(
    absl::string_view hash, absl::FunctionRef<absl::Status()> stopping) const {
  ASSIGN_OR_RETURN(const std::string found,
                   ContentHash(descriptor_, size_, hash, stopping));
  if (found == hash) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("what came has the hash ", found,
                                          ", the server announced ", hash));
}

absl::Status BlobFile::MoveTo(const std::string& path) {
  if (fsync(descriptor_) != 0) return Error("be kept on the disk");
  if (std::rename(path_.c_str(), path.c_str()) != 0) return Error("be renamed");
  path_ = path;
  return absl::OkStatus();
}

absl::StatusOr<BlobLock> BlobLock::Take(
    const std::string& path, absl::FunctionRef<absl::Status()> stopping) {
  BlobLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.descriptor_ < 0) return ErrnoError("be opened", path);
  while (flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return ErrnoError("be locked", path);
    }
    RETURN_IF_ERROR(stopping());
    absl::SleepFor(kLockInterval);
  }
  return lock;
}

BlobLock::~BlobLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

BlobLock::BlobLock(BlobLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace attend
