#ifndef ATTEND_CLIENT_CPP_CLI_DESCRIBE_H_
#define ATTEND_CLIENT_CPP_CLI_DESCRIBE_H_

#include "command_line/program_text.h"

namespace CLI {
class App;
}

namespace attend {

// What `attend`, with all its subcommands, says of itself; without a version.
ProgramText Describe(const CLI::App& attend);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_DESCRIBE_H_
