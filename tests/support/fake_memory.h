#ifndef ATTEND_TESTS_SUPPORT_FAKE_MEMORY_H_
#define ATTEND_TESTS_SUPPORT_FAKE_MEMORY_H_

#include <thread>

#include "engine/tensor/check.h"

namespace attend {

// Counts the blocks and encode rows of a FakeEngine's context. Aborts if more
// are taken than there are, if not all are back at the end, or if a second
// thread takes or gives back.
class FakeMemory {
 public:
  FakeMemory(int blocks, int encode_rows)
      : total_blocks_(blocks),
        total_encode_rows_(encode_rows),
        free_blocks_(blocks),
        free_encode_rows_(encode_rows) {}
  ~FakeMemory() {
    ATTEND_CHECK(free_blocks_ == total_blocks_);
    ATTEND_CHECK(free_encode_rows_ == total_encode_rows_);
  }

  int total_blocks() const { return total_blocks_; }
  int free_blocks() const { return free_blocks_; }
  int total_encode_rows() const { return total_encode_rows_; }
  int free_encode_rows() const { return free_encode_rows_; }

  // Take n, or give -n back.
  void TakeBlocks(int n) {
    CheckThread();
    free_blocks_ -= n;
    ATTEND_CHECK(free_blocks_ >= 0 && free_blocks_ <= total_blocks_);
  }
  void TakeEncodeRows(int n) {
    CheckThread();
    free_encode_rows_ -= n;
    ATTEND_CHECK(free_encode_rows_ >= 0);
  }
  // One thread steps, whichever thread made the context.
  void CheckThread() {
    if (thread_ == std::thread::id()) thread_ = std::this_thread::get_id();
    ATTEND_CHECK(std::this_thread::get_id() == thread_);
  }

 private:
  std::thread::id thread_;
  const int total_blocks_;
  const int total_encode_rows_;
  int free_blocks_;
  int free_encode_rows_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_FAKE_MEMORY_H_
