#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_ZIP_DIRECTORY_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_ZIP_DIRECTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace attend {

// A file in a zip archive: its bytes are [begin, end), counted from the start
// of the archive.
struct ZipEntry {
  size_t begin = 0;
  size_t end = 0;
  bool packed = false;  // compressed or encrypted
};

// True if `bytes` begin as a zip archive does.
bool IsZip(absl::Span<const uint8_t> bytes);

// Reads the directory of an archive, zip64 too. `bytes` is the whole archive.
// INVALID_ARGUMENT names `path` and the file in it if one is listed twice, not
// in the archive, or overlaps another one.
absl::StatusOr<std::map<std::string, ZipEntry>> ReadZipDirectory(
    const std::string& path, absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_ZIP_DIRECTORY_H_
