#include "engine/compute/node_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/tensor/buffer.h"

namespace attend {
namespace {

// The whole pages in [begin, end).
struct Pages {
  Pages(void* memory, size_t begin, size_t end) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto base = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t first = (base + begin + page - 1) / page * page;
    const uintptr_t last = (base + end) / page * page;
    start = reinterpret_cast<void*>(first);
    bytes = last > first ? last - first : 0;
  }

  // Returns the pages to the kernel, which provides zeroed pages at the next
  // write, in the writer's node.
  void GiveBack() const {
    if (bytes > 0) madvise(start, bytes, MADV_DONTNEED);
  }
  void Touch() const {
    if (bytes > 0) std::memset(start, 0, bytes);
  }

  void* start;
  size_t bytes;
};

}  // namespace

void PlaceShares(const Team& team, void* memory, size_t item_bytes, int total,
                 int grain) {
  if (team.nodes().size() == 1) return;
  Pages(memory, 0, item_bytes * total).GiveBack();
  for (int member = 0; member < team.size(); ++member) {
    const OnNode there(team.nodes(), team.node(member));
    const Range share = Share(total, member, team.size(), grain);
    Pages(memory, item_bytes * share.begin, item_bytes * share.end).Touch();
  }
}

void PlaceInTurns(const Team& team, void* memory, size_t bytes) {
  const int nodes = team.nodes().size();
  if (nodes == 1) return;
  Pages(memory, 0, bytes).GiveBack();
  for (int node = 0; node < nodes; ++node) {
    const OnNode there(team.nodes(), node);
    for (size_t begin = kHugePageBytes * node; begin < bytes;
         begin += kHugePageBytes * nodes) {
      Pages(memory, begin, std::min(begin + kHugePageBytes, bytes)).Touch();
    }
  }
}

}  // namespace attend
