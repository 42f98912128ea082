#ifndef ATTEND_ENGINE_COMPUTE_NODE_MEMORY_H_
#define ATTEND_ENGINE_COMPUTE_NODE_MEMORY_H_

#include <cstddef>

#include "engine/compute/team.h"

namespace attend {

// Both functions place memory in the NUMA nodes of the team, in whole pages.
// The memory is private and zeroed, before and after. They do nothing if the
// team is on one node. Load time only.

// Places the items [0, total) of `item_bytes` each: the Share() of each member
// goes to the member's node.
void PlaceShares(const Team& team, void* memory, size_t item_bytes, int total,
                 int grain);
// Interleaves memory that members of all nodes read.
void PlaceInTurns(const Team& team, void* memory, size_t bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_NODE_MEMORY_H_
