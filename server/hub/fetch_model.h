#ifndef ATTEND_SERVER_HUB_FETCH_MODEL_H_
#define ATTEND_SERVER_HUB_FETCH_MODEL_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "server/hub/hub_reference.h"
#include "server/hub/hub_settings.h"
#include "server/observability/log.h"

namespace attend {

// Ensures that the cache has a model, and returns its path there: a directory,
// or a GGUF file. The hub is not contacted if the revision is a cached commit;
// otherwise it resolves the revision. If the hub does not answer, or with
// settings.offline, the cache decides. `name` is the model's name in the log.
//
// CANCELLED within a second or two of `stopping`. Errors name the model or the
// URL, and what to do.
absl::StatusOr<std::string> FetchModel(const HubSettings& settings,
                                       const HubReference& reference,
                                       const std::string& name,
                                       const std::function<bool()>& stopping,
                                       Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_FETCH_MODEL_H_
