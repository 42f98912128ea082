#ifndef ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_
#define ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_

#include <functional>

#include "client/cpp/cli/options.h"

namespace CLI {
class App;
}

namespace attend {

// Options that several subcommands have. What they fill must outlive the
// parsing.
void AddConnection(CLI::App& app, ConnectionOptions& connection);
// `arguments` says what they are.
void AddInput(CLI::App& app, InputOptions& input, const char* arguments);
// --in-flight and --json, which AddInput() adds too.
void AddInFlight(CLI::App& app, InputOptions& input);
void AddBatch(CLI::App& app, InputOptions& input);

void AddPriority(CLI::App& app, std::function<void(int)> set);
void AddTruncate(CLI::App& app, std::function<void()> set);

// Those two, of any request that has them.
template <class Request>
void AddScheduling(CLI::App& app, Request& request) {
  AddPriority(app, [&request](int n) { request.set_priority(n); });
  AddTruncate(app, [&request] { request.set_truncate(true); });
}

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_
