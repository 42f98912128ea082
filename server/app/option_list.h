#ifndef ATTEND_SERVER_APP_OPTION_LIST_H_
#define ATTEND_SERVER_APP_OPTION_LIST_H_

#include "server/app/option_parser.h"
#include "server/app/options.h"

namespace attend {

// Adds all options of the server to the parser, with their help: the only place
// where flags, variables and lines of the file are defined. The parser fills
// `options`, which must outlive it.
void AddOptions(OptionParser& parser, ServerOptions& options);

// Adds the flags that are no options of the server: --help and --version.
void AddFlags(OptionParser& parser, CommandLine& line);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_OPTION_LIST_H_
