#ifndef ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_
#define ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cpp/lib/client.h"

namespace CLI {
class App;
}

namespace attend {

// Where the server is, and how a subcommand calls it.
struct ConnectionOptions {
  std::string address = "localhost:50051";
  bool use_tls = false;  // use TLS even if no file of tls_files is given
  ClientTlsFiles tls_files;
  // Made of use_tls and tls_files after the command line has been parsed.
  std::optional<ClientTls> tls;
  std::string token;
  std::string model;  // empty: the server's default
  // Deadline of each call, retries included.
  absl::Duration timeout = absl::Seconds(60);
  // Of ProfilesFile(); its values are those of options that are not given.
  std::string profile;
};

// The inputs of a subcommand: the arguments if there are any, else the lines of
// `file` if it is not empty, else the lines of standard input.
struct InputOptions {
  std::vector<std::string> arguments;
  std::string file;
  std::string output;   // a file (see OutputFile); empty: standard output
  bool resume = false;  // go on with `output`
  int in_flight = 16;   // calls at once
  int batch = 1;        // inputs of one call; 0: 32 if `file` is given, else 1
  bool json = false;    // print results as JSON
};

ClientOptions ToClientOptions(const ConnectionOptions& connection);

// The functions below add options that several subcommands have. The struct
// that an option fills must outlive the parsing.

// Adds the options of the connection. After the command line has been parsed,
// the profile, and the files of --ca, --cert and --key are read.
void AddConnection(CLI::App& app, ConnectionOptions& connection);
// An option whose value is a time above 0.
void AddTime(CLI::App& app, const std::string& name, const std::string& help,
             absl::Duration& time);
// `arguments` is the help of the positional arguments.
void AddInput(CLI::App& app, InputOptions& input, const char* arguments);
// --in-flight and --json, which AddInput() adds too.
void AddInFlight(CLI::App& app, InputOptions& input);
// --batch. A subcommand without this option makes one call for each input.
void AddBatch(CLI::App& app, InputOptions& input);

// A sentence for the footer of --help.
inline constexpr char kFailedInputs[] =
    "An input that fails gives an empty line and a message on stderr.";

void AddPriority(CLI::App& app, std::function<void(int)> set);
void AddTruncate(CLI::App& app, std::function<void()> set);

// Adds both options, for any request with a field `priority`; the second one
// where there is a field `truncate`.
template <class Request>
void AddScheduling(CLI::App& app, Request& request) {
  AddPriority(app, [&request](int n) { request.set_priority(n); });
  if constexpr (requires { request.set_truncate(true); }) {
    AddTruncate(app, [&request] { request.set_truncate(true); });
  }
}

// The options of all subcommands that work on batches (see BatchOptions).
template <class Options>
void AddBatching(CLI::App& app, Options& options) {
  AddBatch(app, options.input);
  AddConnection(app, options.connection);
  AddScheduling(app, options.request);
}

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_COMMON_OPTIONS_H_
