#ifndef ATTEND_ENGINE_CACHE_BLOCK_MEMORY_H_
#define ATTEND_ENGINE_CACHE_BLOCK_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <thread>

#include "engine/tensor/buffer.h"

namespace attend {

// The zero-initialised bytes of a pool's blocks. A background thread touches
// them, the first block first, which takes seconds on some virtual machines;
// the model is ready in the meantime. For one thread at a time.
class BlockMemory {
 public:
  BlockMemory(size_t blocks, size_t block_bytes);
  ~BlockMemory();
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

  // Waits until the first `blocks` blocks are zeros and the thread no longer
  // writes to them.
  void Await(size_t blocks) const {
    for (size_t count;
         (count = touched_.load(std::memory_order_acquire)) < blocks;) {
      touched_.wait(count, std::memory_order_acquire);
    }
  }

 private:
  void Touch();

  const size_t blocks_;
  const size_t block_bytes_;
  Buffer<std::byte> bytes_;
  std::atomic<size_t> touched_ = 0;  // blocks
  std::atomic<bool> ends_ = false;
  std::thread thread_;  // last: uses the others
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_BLOCK_MEMORY_H_
