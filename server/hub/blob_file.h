#ifndef ATTEND_SERVER_HUB_BLOB_FILE_H_
#define ATTEND_SERVER_HUB_BLOB_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// A file that grows to a known size. Errors name it; RESOURCE_EXHAUSTED: the
// disk is full. Movable; one thread at a time.
class BlobFile {
 public:
  // With what is there already; nothing, if that is too long.
  static absl::StatusOr<BlobFile> Open(const std::string& path, int64_t size);
  ~BlobFile();
  BlobFile(BlobFile&& other) noexcept;
  BlobFile& operator=(BlobFile&&) = delete;

  int64_t written() const { return written_; }
  bool whole() const { return written_ == size_; }
  absl::Status Clear();
  // DATA_LOSS: that would be more than the size.
  absl::Status Append(absl::string_view bytes);
  // FAILED_PRECONDITION if the file has not that hash (see content_hash.h).
  absl::Status CheckHash(absl::string_view hash,
                         absl::FunctionRef<absl::Status()> stopping) const;
  // Gives the file another path, once all of it is on the disk.
  absl::Status MoveTo(const std::string& path);

 private:
  BlobFile(std::string path, int descriptor, int64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  absl::Status Error(absl::string_view what) const;

  std::string path_;
  int descriptor_;
  int64_t size_;
  int64_t written_ = 0;
};

// Held by one process at a time; huggingface_hub takes the same kind.
class BlobLock {
 public:
  // Waits for others, as long as `stopping` is OK.
  static absl::StatusOr<BlobLock> Take(
      const std::string& path, absl::FunctionRef<absl::Status()> stopping);
  ~BlobLock();
  BlobLock(BlobLock&& other) noexcept;
  BlobLock& operator=(BlobLock&&) = delete;

 private:
  explicit BlobLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_BLOB_FILE_H_
