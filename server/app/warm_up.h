#ifndef ATTEND_SERVER_APP_WARM_UP_H_
#define ATTEND_SERVER_APP_WARM_UP_H_

#include "engine/api/engine.h"
#include "server/scheduler/scheduler.h"

namespace attend {

// Computes a short request, with the model's own defaults, so that the first
// call finds what it needs in memory and in caches. Returns when the request
// has ended, however. Without a request that the model can do, returns at once:
// false.
bool WarmUp(const Engine& engine, Scheduler& scheduler);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_WARM_UP_H_
