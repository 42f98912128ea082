#ifndef ATTEND_ENGINE_COMPUTE_NODE_MEMORY_H_
#define ATTEND_ENGINE_COMPUTE_NODE_MEMORY_H_

#include <cstddef>

#include "engine/compute/team.h"

namespace attend {

// Both functions say in which NUMA nodes of the team memory shall be, in whole
// pages. The memory is the process's own, and has zeros alone, before and
// after. They do nothing if the team is on one node. Load time only.

// The items [0, total), of `item_bytes` each: every member reads about its
// Share(), which is to be in the member's node.
void PlaceShares(const Team& team, void* memory, size_t item_bytes, int total,
                 int grain);
// Members of all nodes read all of it: each node has as much as any other.
void PlaceInTurns(const Team& team, void* memory, size_t bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_NODE_MEMORY_H_
