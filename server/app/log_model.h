#ifndef ATTEND_SERVER_APP_LOG_MODEL_H_
#define ATTEND_SERVER_APP_LOG_MODEL_H_

#include "engine/runtime/model.h"
#include "server/app/options.h"
#include "server/observability/log.h"

namespace attend {

// Logs what was loaded with a model, and warns of what its files cannot do.
void LogModel(const ModelSource& source, const Model& model, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_LOG_MODEL_H_
