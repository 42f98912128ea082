#ifndef ATTEND_ENGINE_CHECKPOINT_GGUF_BYTE_READER_H_
#define ATTEND_ENGINE_CHECKPOINT_GGUF_BYTE_READER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"

namespace attend {

// Reads little-endian values one after the other, and never beyond the end.
// Errors are INVALID_ARGUMENT, and name the file, the place in it, and `what`
// was to be read.
class ByteReader {
 public:
  // `bytes` must outlive the reader.
  ByteReader(std::string path, absl::Span<const uint8_t> bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  const std::string& path() const { return path_; }
  size_t offset() const { return offset_; }
  size_t left() const { return bytes_.size() - offset_; }

  template <typename Number>
  absl::StatusOr<Number> Read(absl::string_view what) {
    ASSIGN_OR_RETURN(const auto bytes, Take(sizeof(Number), what));
    Number number;
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  }

  // The next `count` bytes.
  absl::StatusOr<absl::Span<const uint8_t>> Take(uint64_t count,
                                                 absl::string_view what) {
    if (count > left()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path_, ": ", what, " at byte ", offset_, " has ", count,
          " bytes, but only ", left(), " follow (is the file ", "cut?)"));
    }
    const auto taken = bytes_.subspan(offset_, count);
    offset_ += count;
    return taken;
  }

  // A string: its length in 64 bits, then its bytes, at most `limit`.
  absl::StatusOr<absl::string_view> Text(uint64_t limit,
                                         absl::string_view what) {
    ASSIGN_OR_RETURN(const uint64_t length, Read<uint64_t>(what));
    if (length > limit) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": ", what, " at byte ", offset_, " has ", length,
                       " bytes, limit is ", limit));
    }
    ASSIGN_OR_RETURN(const auto bytes, Take(length, what));
    return absl::string_view(reinterpret_cast<const char*>(bytes.data()),
                             bytes.size());
  }

 private:
  const std::string path_;
  const absl::Span<const uint8_t> bytes_;
  size_t offset_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GGUF_BYTE_READER_H_
