#ifndef ATTEND_SERVER_APP_PORT_OPTION_LIST_H_
#define ATTEND_SERVER_APP_PORT_OPTION_LIST_H_

#include "server/app/option_parser.h"
#include "server/app/options.h"

namespace attend {

// Adds the options of both ports: where they listen, whom they serve, and TLS.
void AddPortOptions(OptionParser& parser, ServerOptions& options);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_PORT_OPTION_LIST_H_
