#include "engine/compute/item_queue.h"

namespace attend {

ItemQueue::ItemQueue(const Team& team, int count) : team_(team) {
  if (team.nodes().size() == 1) {
    parts_[0].end = count;
    return;
  }
  for (int member = 0; member < team.size(); ++member) {
    const Range share = Share(count, member, team.size());
    Part& part = parts_[team.node(member)];
    if (part.end == 0) part.next = share.begin;
    part.end = share.end;
  }
}

int ItemQueue::Take(int member) {
  const int nodes = team_.nodes().size();
  int node = nodes == 1 ? 0 : team_.node(member);
  for (int i = 0; i < nodes; ++i, node = (node + 1) % nodes) {
    Part& part = parts_[node];
    // Counts no further than each member once: most look here when it is empty.
    if (part.next.load(std::memory_order_relaxed) >= part.end) continue;
    const int item = part.next.fetch_add(1, std::memory_order_relaxed);
    if (item < part.end) return item;
  }
  return kNone;
}

}  // namespace attend
