#ifndef ATTEND_CLIENT_CPP_CLI_COMMAND_TEXT_H_
#define ATTEND_CLIENT_CPP_CLI_COMMAND_TEXT_H_

#include <string>

namespace CLI {
class App;
}

namespace attend {

// The line for a shell that does what `command` was told to, by its command
// line, variables and profile, without the token: "attend bench --requests 5".
std::string CommandLineText(const CLI::App& command);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_COMMAND_TEXT_H_
