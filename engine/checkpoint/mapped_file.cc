#include "engine/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// Closes when it goes out of scope; a mapping outlives its descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(
    const std::string& path) {
  // Without O_NONBLOCK a named pipe would hang the load.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info = {};
  if (file.fd < 0 || fstat(file.fd, &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a regular file"));
  }
  absl::Span<const uint8_t> bytes;
  if (info.st_size > 0) {
    const size_t size = static_cast<size_t>(info.st_size);
    void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (map == MAP_FAILED) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", path));
    }
    bytes = absl::MakeConstSpan(static_cast<const uint8_t*>(map), size);
  }
  return std::unique_ptr<MappedFile>(new MappedFile(path, info, bytes));
}

void MappedFile::Drop(absl::Span<const uint8_t> bytes) {
  if (bytes.empty()) return;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t address = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = address / page * page;
  // If the system does not take the advice, the pages stay in memory.
  madvise(reinterpret_cast<void*>(begin), address + bytes.size() - begin,
          MADV_DONTNEED);
}

absl::Status MappedFile::CheckUnchanged() const {
  if (pages_->lost()) {
    return absl::DataLossError(absl::StrCat(
        path_, ": was cut, or could not be read, while it was loaded"));
  }
  struct stat now = {};
  const bool same_file = stat(path_.c_str(), &now) == 0 &&
                         now.st_dev == info_.st_dev &&
                         now.st_ino == info_.st_ino;
  if (!same_file) return absl::OkStatus();
  if (now.st_size != info_.st_size) {
    return absl::DataLossError(absl::StrCat(
        path_, ": had ", info_.st_size, " bytes when it was opened, and ",
        now.st_size, " when it was loaded"));
  }
  if (now.st_mtim.tv_sec != info_.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != info_.st_mtim.tv_nsec) {
    return absl::DataLossError(
        absl::StrCat(path_, ": was written while it was loaded"));
  }
  return absl::OkStatus();
}

MappedFile::~MappedFile() {
  pages_.reset();
  if (!bytes_.empty()) {
    munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
  }
}

}  // namespace attend
