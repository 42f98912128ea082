#ifndef ATTEND_ENGINE_CHECKPOINT_MAPPED_FILE_H_
#define ATTEND_ENGINE_CHECKPOINT_MAPPED_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/checkpoint/lost_pages.h"

namespace attend {

// A regular file mapped for reading. Const; any thread may read. Whatever
// happens to the file, its bytes can be read; whether they were those of the
// file is what CheckUnchanged() says.
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

  // DATA_LOSS, which names the file, if bytes that were read may not have been
  // those of the file as it was opened: it was cut or written since, or could
  // not be read. A file that was deleted or replaced as a whole is unchanged.
  absl::Status CheckUnchanged() const;

 private:
  MappedFile(std::string path, const struct stat& info,
             absl::Span<const uint8_t> bytes)
      : path_(std::move(path)), info_(info), bytes_(bytes) {
    pages_.emplace(bytes);
  }

  const std::string path_;
  const struct stat info_;  // when it was opened
  const absl::Span<const uint8_t> bytes_;
  std::optional<LostPages> pages_;  // of bytes_, as long as they are mapped
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_MAPPED_FILE_H_
