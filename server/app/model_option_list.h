#ifndef ATTEND_SERVER_APP_MODEL_OPTION_LIST_H_
#define ATTEND_SERVER_APP_MODEL_OPTION_LIST_H_

#include "server/app/option_parser.h"
#include "server/app/options.h"

namespace attend {

// Adds the options that say which models to serve, and what belongs to one of
// them.
void AddModelOptions(OptionParser& parser, ServerOptions& options);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_OPTION_LIST_H_
