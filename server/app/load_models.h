#ifndef ATTEND_SERVER_APP_LOAD_MODELS_H_
#define ATTEND_SERVER_APP_LOAD_MODELS_H_

#include "absl/status/status.h"
#include "engine/compute/compute.h"
#include "server/app/options.h"
#include "server/app/served_models.h"
#include "server/app/signals.h"
#include "server/observability/log.h"

namespace attend {

// Loads options.models, one after the other, into `models`. One that cannot be
// loaded does not keep the others from serving. Returns early when a signal
// comes. An error: no model could be loaded.
absl::Status LoadModels(const ServerOptions& options, Compute& compute,
                        ServedModels& models, Signals& signals, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_LOAD_MODELS_H_
