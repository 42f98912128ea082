#include "engine/cache/block_memory.h"

#include <algorithm>
#include <cstring>

#include "engine/tensor/thread_name.h"

namespace attend {
namespace {

// Bytes touched at a time; a smaller pool does not need a thread.
constexpr size_t kPartBytes = 4 * kHugePageBytes;

}  // namespace

BlockMemory::BlockMemory(size_t blocks, size_t block_bytes)
    : blocks_(blocks),
      block_bytes_(block_bytes),
      bytes_(Buffer<std::byte>::Untouched(blocks * block_bytes)) {
  if (bytes_.size() <= kPartBytes) {
    Touch();
    return;
  }
  thread_ = std::thread([this] {
    NameThread("touch-blocks");
    Touch();
  });
}

BlockMemory::~BlockMemory() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

void BlockMemory::Touch() {
  const size_t part = std::max<size_t>(1, kPartBytes / block_bytes_);
  for (size_t begin = 0; begin < blocks_ && !ends_; begin += part) {
    const size_t end = std::min(blocks_, begin + part);
    std::memset(bytes_.data() + begin * block_bytes_, 0,
                (end - begin) * block_bytes_);
    touched_.store(end, std::memory_order_release);
    touched_.notify_all();
  }
}

}  // namespace attend
