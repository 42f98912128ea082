#include "client/cpp/cli/common_options.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace attend {
namespace {

// "30s", "500ms", "inf", or a number of seconds.
std::optional<absl::Duration> ParseTimeout(const std::string& text) {
  absl::Duration timeout;
  if (!absl::ParseDuration(text, &timeout) &&
      !absl::ParseDuration(text + "s", &timeout)) {
    return std::nullopt;
  }
  if (timeout <= absl::ZeroDuration()) return std::nullopt;
  return timeout;
}

}  // namespace

ClientOptions ToClientOptions(const ConnectionOptions& connection) {
  ClientOptions options = {.address = connection.address,
                           .timeout = connection.timeout};
  if (!connection.key.empty()) {
    options.metadata = {{"authorization", "Bearer " + connection.key}};
  }
  return options;
}

void AddConnection(CLI::App& app, ConnectionOptions& connection) {
  app.add_option("-a,--address", connection.address,
                 "Address of the server: host:port or unix:path")
      ->envname("ATTEND_ADDRESS")
      ->capture_default_str();
  app.add_option("--key", connection.key,
                 "Key, for servers that want one. Others on this machine may "
                 "see arguments: the variable is for keys that matter")
      ->envname("ATTEND_KEY");
  app.add_option("-m,--model", connection.model,
                 "Name of the model (default: the server's default)");
  app.add_option_function<std::string>(
         "--timeout",
         [&connection](const std::string& text) {
           const std::optional<absl::Duration> timeout = ParseTimeout(text);
           if (!timeout.has_value()) {
             throw CLI::ValidationError(
                 "--timeout", text + " is not a time above 0, like 30s or inf");
           }
           connection.timeout = *timeout;
         },
         "Deadline of each call, retries included: 500ms, 30s, 5m, inf "
         "(default: 60s)")
      ->type_name("TIME");
}

void AddInput(CLI::App& app, InputOptions& input, const char* arguments) {
  app.add_option("arguments", input.arguments, arguments);
  app.add_option("-f,--file", input.file,
                 "Read lines from this file (default: standard input)")
      ->excludes("arguments");
  AddInFlight(app, input);
}

void AddInFlight(CLI::App& app, InputOptions& input) {
  app.add_option(
         "--in-flight", input.in_flight,
         "Number of calls at once; output keeps the order of the inputs")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--json", input.json, "Print one JSON object for each input");
}

void AddBatch(CLI::App& app, InputOptions& input) {
  input.batch = 0;
  app.add_option(
         "--batch", input.batch,
         "Number of inputs in one call (default: 32 for a file, else 1)")
      ->check(CLI::Range(1, 100000));
}

void AddPriority(CLI::App& app, std::function<void(int)> set) {
  app.add_option_function<int>("--priority", std::move(set),
                               "Priority, -10 to 10; higher goes first")
      ->check(CLI::Range(-10, 10));
}

void AddTruncate(CLI::App& app, std::function<void()> set) {
  app.add_flag_function(
      "--truncate", [set = std::move(set)](int64_t) { set(); },
      "Cut inputs that are too long for the model, instead of an error");
}

}  // namespace attend
