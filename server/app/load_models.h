#ifndef ATTEND_SERVER_APP_LOAD_MODELS_H_
#define ATTEND_SERVER_APP_LOAD_MODELS_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "engine/compute/compute.h"
#include "server/app/options.h"
#include "server/app/served_models.h"
#include "server/app/signals.h"
#include "server/observability/log.h"
#include "server/observability/metrics.h"

namespace attend {

// The inputs and the destination of loading a model. Everything must outlive
// the Loading.
struct Loading {
  const ServerOptions& options;
  Compute& compute;
  ServedModels& models;
  Metrics& metrics;
  Log& log;
  // Returns true if the server is asked to exit, which interrupts downloads
  // from a hub.
  std::function<bool()> stopping = [] { return false; };
};

// Loads a model, which is fetched first if it is one of a hub, takes all memory
// that serving it needs, and serves it from now on, in the place of the one of
// its name. Makes the paths of `source` absolute. An error may name them, and
// nothing has changed. While the memory does not suffice, `make_room` is
// called; false: there is no room to be made. Metrics count what was loaded; a
// failure is counted by the caller, when it has told of the model.
absl::Status LoadOne(const Loading& to, ModelSource& source,
                     absl::FunctionRef<bool()> make_room);
// Logs why a model could not be loaded. Returns that for clients.
absl::Status ReportFailure(const Loading& to, const ModelSource& source,
                           const absl::Status& status);

// Loads options.models, one after the other. One that cannot be loaded does not
// keep the others from serving. Returns early when a signal comes. Then sets
// options.aliases. An error: no model could be loaded.
absl::Status LoadModels(const Loading& to, Signals& signals);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_LOAD_MODELS_H_
