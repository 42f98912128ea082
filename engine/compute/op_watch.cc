#include "engine/compute/op_watch.h"

#include <atomic>

namespace attend {
namespace {

// Of the process, as the team is. Not a part of the Team, because ops of all
// layers ask for it, those too that have no team.
std::atomic<OpWatch*> watch_of_ops{nullptr};

}  // namespace

void WatchOps(OpWatch* watch) { watch_of_ops = watch; }

OpWatch* WatchOfOps() { return watch_of_ops.load(std::memory_order_acquire); }

}  // namespace attend
