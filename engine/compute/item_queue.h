#ifndef ATTEND_ENGINE_COMPUTE_ITEM_QUEUE_H_
#define ATTEND_ENGINE_COMPUTE_ITEM_QUEUE_H_

#include <array>
#include <atomic>

#include "engine/compute/team.h"

namespace attend {

// The items [0, count) of a Run() of a team, which members take one after the
// other until none is left. A member first takes those in the share of the
// members of its NUMA node (see PlaceShares()), then those of other nodes.
class ItemQueue {
 public:
  // `team` must outlive the queue.
  ItemQueue(const Team& team, int count);

  // The next item for a member; kNone if none is left. All members may call it
  // at the same time.
  int Take(int member);
  static constexpr int kNone = -1;

 private:
  struct alignas(64) Part {
    std::atomic<int> next = 0;
    int end = 0;
  };

  const Team& team_;
  std::array<Part, NumaNodes::kMost> parts_;  // [nodes]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_ITEM_QUEUE_H_
