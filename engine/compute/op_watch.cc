#include "engine/compute/op_watch.h"

#include <atomic>

namespace attend {
namespace {

// One per process, as the team is. Not a member of Team, because ops of all
// layers use it, including those without a team.
std::atomic<OpWatch*> watch_of_ops{nullptr};

}  // namespace

void WatchOps(OpWatch* watch) { watch_of_ops = watch; }

OpWatch* WatchOfOps() { return watch_of_ops.load(std::memory_order_acquire); }

}  // namespace attend
