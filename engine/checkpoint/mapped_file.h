#ifndef ATTEND_ENGINE_CHECKPOINT_MAPPED_FILE_H_
#define ATTEND_ENGINE_CHECKPOINT_MAPPED_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace attend {

// A regular file mapped for reading. Const; any thread may read.
class MappedFile {
 public:
  // NOT_FOUND if there is no such file; INVALID_ARGUMENT if it is not a regular
  // file; else the error of the system. All errors name the file.
  static absl::StatusOr<std::unique_ptr<MappedFile>> Open(
      const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  absl::Span<const uint8_t> bytes() const { return bytes_; }
  // Advice: takes the pages of `bytes`, which are in a mapped file, out of
  // memory. A later read brings a page back from the file.
  static void Drop(absl::Span<const uint8_t> bytes);

 private:
  MappedFile(std::string path, absl::Span<const uint8_t> bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  std::string path_;
  absl::Span<const uint8_t> bytes_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_MAPPED_FILE_H_
