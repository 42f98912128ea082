#include "engine/tensor/out_of_memory.h"

#include <sys/mman.h>

namespace attend {
namespace {

const absl::Status& Made() {
  // Never destroyed: threads may use it to the end.
  static const auto& made = *new absl::Status(
      absl::ResourceExhaustedError("the system gives no more memory"));
  return made;
}

[[maybe_unused]] const absl::Status& made_before_main = Made();

}  // namespace

absl::Status OutOfMemory() { return Made(); }

absl::Status CheckRoomFor(size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return OutOfMemory();
  munmap(room, bytes);
  return absl::OkStatus();
}

}  // namespace attend
