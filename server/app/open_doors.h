#ifndef ATTEND_SERVER_APP_OPEN_DOORS_H_
#define ATTEND_SERVER_APP_OPEN_DOORS_H_

#include "server/app/options.h"
#include "server/observability/log.h"

namespace attend {

// Writes a line for each secret that the options let travel as plain text, and
// for what they let every client do.
void WarnOfOpenDoors(const ServerOptions& options, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_OPEN_DOORS_H_
