#ifndef ATTEND_SERVER_APP_MODEL_OPTION_LIST_H_
#define ATTEND_SERVER_APP_MODEL_OPTION_LIST_H_

#include "engine/runtime/engine_options.h"
#include "server/app/model_sources.h"
#include "server/app/option_parser.h"

namespace attend {

// Adds the options that say which models to serve, and what belongs to one of
// them.
void AddModelOptions(OptionParser& parser, ModelOptions& models,
                     EngineOptions& engine);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_OPTION_LIST_H_
