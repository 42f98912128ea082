#ifndef ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_
#define ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace CLI {
class App;
}

namespace attend {

struct ConnectionOptions {
  std::string address = "localhost:50051";
  std::string model;
  absl::Duration timeout = absl::Seconds(60);
};

// What a command works on: arguments, else a file's lines, else those of
// standard input.
struct InputOptions {
  std::vector<std::string> arguments;
  std::string file;
  int in_flight = 16;
  int batch = 1;  // inputs of a call; 0: 32 of a file, else 1
  bool json = false;
};

// Options that several subcommands have. What they fill must outlive the
// parsing.
void AddConnection(CLI::App& app, ConnectionOptions& connection);
// `arguments` says what they are.
void AddInput(CLI::App& app, InputOptions& input, const char* arguments);
// --in-flight and --json, which AddInput() adds too.
void AddInFlight(CLI::App& app, InputOptions& input);
// Without it each input has a call of its own.
void AddBatch(CLI::App& app, InputOptions& input);

// What footers say of inputs.
inline constexpr char kFailedInputs[] =
    "An input that fails gives an empty line and a message on stderr.";

void AddPriority(CLI::App& app, std::function<void(int)> set);
void AddTruncate(CLI::App& app, std::function<void()> set);

// Those two, of any request that has them.
template <class Request>
void AddScheduling(CLI::App& app, Request& request) {
  AddPriority(app, [&request](int n) { request.set_priority(n); });
  AddTruncate(app, [&request] { request.set_truncate(true); });
}

// What all have that work on batches (see BatchOptions).
template <class Options>
void AddBatching(CLI::App& app, Options& options) {
  AddBatch(app, options.input);
  AddConnection(app, options.connection);
  AddScheduling(app, options.request);
}

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_
