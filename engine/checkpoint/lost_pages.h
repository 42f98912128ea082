#ifndef ATTEND_ENGINE_CHECKPOINT_LOST_PAGES_H_
#define ATTEND_ENGINE_CHECKPOINT_LOST_PAGES_H_

#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// Watches mapped bytes of a file. Where a mapped page cannot be read, because
// the file was cut or its disk has failed, the system sends SIGBUS, which ends
// the process. While bytes are watched, they are zeros from such a page on
// instead, and lost() says so. Any thread may read the bytes.
//
// The handler of the signal is set by the first watch, for the process. Other
// bus errors go to the handler that was there before.
class LostPages {
 public:
  // As many as there may be at once.
  static constexpr int kMaxWatches = 4096;

  // `bytes` are mapped, read only, from the beginning of a page on, and longer
  // than this lives. Beyond kMaxWatches bytes are not watched.
  explicit LostPages(absl::Span<const uint8_t> bytes);
  ~LostPages();
  LostPages(const LostPages&) = delete;
  LostPages& operator=(const LostPages&) = delete;

  bool lost() const;

 private:
  int place_ = -1;  // in the table of watches; -1: not watched
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_LOST_PAGES_H_
