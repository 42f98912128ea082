#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_BYTE_CURSOR_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_BYTE_CURSOR_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace attend {

// Reads bytes one after the other, numbers in little-endian order. Reads
// nothing beyond the end: what is missing reads as zeros, and ok() is then
// false. One thread.
class ByteCursor {
 public:
  // Begins at `at`, which may be beyond the end.
  explicit ByteCursor(absl::Span<const uint8_t> bytes, size_t at = 0)
      : bytes_(bytes), at_(at), ok_(at <= bytes.size()) {}

  bool ok() const { return ok_; }
  // Position of the next byte.
  size_t at() const { return at_; }

  absl::Span<const uint8_t> Take(uint64_t count) {
    if (!ok_ || count > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    const absl::Span<const uint8_t> taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  absl::string_view Text(uint64_t count) {
    const absl::Span<const uint8_t> taken = Take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  // A number of `count` bytes, at most 8.
  uint64_t Number(int count) {
    const absl::Span<const uint8_t> taken = Take(count);
    uint64_t number = 0;
    for (size_t i = taken.size(); i > 0; --i)
      number = number << 8 | taken[i - 1];
    return number;
  }
  // The text before the next line feed, which is skipped.
  absl::string_view Line() {
    size_t end = at_;
    while (ok_ && end < bytes_.size() && bytes_[end] != '\n') ++end;
    const absl::string_view line = Text(end - at_);
    Take(1);
    return line;
  }

 private:
  absl::Span<const uint8_t> bytes_;
  size_t at_;
  bool ok_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_BYTE_CURSOR_H_
