#include "client/cpp/cli/common_options.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "client/cpp/cli/profile.h"
#include "client/cpp/lib/target.h"

namespace attend {
namespace {

// "30s", "500ms", "inf", or a number of seconds.
std::optional<absl::Duration> ParseTime(const std::string& text) {
  absl::Duration time;
  if (!absl::ParseDuration(text, &time) &&
      !absl::ParseDuration(text + "s", &time)) {
    return std::nullopt;
  }
  if (time <= absl::ZeroDuration()) return std::nullopt;
  return time;
}

void AddFile(CLI::App& app, const char* name, std::string& path,
             const char* variable, const char* help) {
  app.add_option(name, path, help)->envname(variable)->type_name("FILE");
}

// What a profile may set.
constexpr const char* kProfileOptions[] = {"address", "tls",         "ca",
                                           "cert",    "key",         "token",
                                           "model",   "server-name", "timeout"};

void UseProfile(CLI::App& app, const std::string& profile) {
  const auto values = ReadProfile(ProfilesFile(), profile, kProfileOptions);
  if (!values.ok()) {
    throw CLI::ValidationError("--profile",
                               std::string(values.status().message()));
  }
  for (const auto& [name, value] : *values) {
    CLI::Option& option = *app.get_option("--" + name);
    // What the command line or a variable says goes first.
    if (option.count() > 0) continue;
    option.add_result(value);
    option.run_callback();
  }
}

void CheckConnection(const ConnectionOptions& connection) {
  const auto addresses = SplitAddresses(connection.address);
  if (!addresses.ok()) {
    throw CLI::ValidationError("--address",
                               std::string(addresses.status().message()));
  }
  if (const absl::Status status = CheckToken(connection.token); !status.ok()) {
    throw CLI::ValidationError("--token", std::string(status.message()));
  }
}

// Any option about TLS implies --tls.
void ReadTls(ConnectionOptions& connection) {
  auto tls = MaybeReadClientTls(connection.use_tls, connection.tls_files);
  if (!tls.ok()) {
    throw CLI::ValidationError("TLS", std::string(tls.status().message()));
  }
  connection.tls = *std::move(tls);
}

void AddTls(CLI::App& app, ConnectionOptions& connection) {
  ClientTlsFiles& files = connection.tls_files;
  app.add_flag("--tls", connection.use_tls,
               "Use TLS. Each of the next four options implies it")
      ->envname("ATTEND_TLS");
  AddFile(app, "--ca", files.ca, "ATTEND_CA",
          "PEM file of the CAs accepted for the server's certificate (default: "
          "those of the system)");
  AddFile(app, "--cert", files.cert, "ATTEND_CERT",
          "PEM file of the client's certificate");
  AddFile(app, "--key", files.key, "ATTEND_KEY",
          "PEM file of the client's private key");
  app.add_option("--server-name", files.server_name,
                 "Name that the server's certificate must have (default: the "
                 "host of the address)")
      ->envname("ATTEND_SERVER_NAME")
      ->type_name("NAME");
  app.add_option(
         "--token", connection.token,
         "Token to send, as 'authorization: Bearer TOKEN'. Other users of "
         "this machine can see the option, but not the variable")
      ->envname("ATTEND_TOKEN")
      ->type_name("TOKEN");
}

}  // namespace

ClientOptions ToClientOptions(const ConnectionOptions& connection) {
  // A command speaks to a server that serves no model yet, too.
  return {.address = connection.address,
          .health_checks = false,
          .tls = connection.tls,
          .token = connection.token,
          .timeout = connection.timeout};
}

void AddConnection(CLI::App& app, ConnectionOptions& connection) {
  app.add_option("-a,--address", connection.address,
                 "Address of the server: host:port or unix:path; or several "
                 "host:port, separated by commas, which get calls in turn")
      ->envname("ATTEND_ADDRESS")
      ->capture_default_str();
  AddTls(app, connection);
  app.add_option("-m,--model", connection.model,
                 "Name of the model (default: the server's default)");
  AddTime(app, "--timeout",
          "Deadline of each call, retries included: 500ms, 30s, 5m, inf "
          "(default: 60s)",
          connection.timeout);
  app.add_option("--profile", connection.profile,
                 "Section of attend/profiles.toml (in $XDG_CONFIG_HOME, "
                 "otherwise ~/.config) with values of the options above "
                 "(default: [default], if it exists)")
      ->envname("ATTEND_PROFILE")
      ->type_name("NAME");
  app.final_callback([&app, &connection] {
    UseProfile(app, connection.profile);
    CheckConnection(connection);
    ReadTls(connection);
  });
}

void AddTime(CLI::App& app, const std::string& name, const std::string& help,
             absl::Duration& time) {
  app.add_option_function<std::string>(
         name,
         [name, &time](const std::string& text) {
           const std::optional<absl::Duration> parsed = ParseTime(text);
           if (!parsed.has_value()) {
             throw CLI::ValidationError(
                 name, text + " is not a time above 0, like 30s or inf");
           }
           time = *parsed;
         },
         help)
      ->type_name("TIME");
}

void AddInput(CLI::App& app, InputOptions& input, const char* arguments) {
  app.add_option("arguments", input.arguments, arguments);
  app.add_option("-f,--file", input.file,
                 "Read lines from this file (default: standard input)")
      ->excludes("arguments");
  CLI::Option* const output =
      app.add_option("-o,--output", input.output,
                     "Write results to this file (default: standard output)")
          ->type_name("FILE");
  app.add_flag(
         "--resume", input.resume,
         "Resume an interrupted run with the same input at the end of --output")
      ->needs(output)
      ->excludes("arguments");
  AddInFlight(app, input);
}

void AddInFlight(CLI::App& app, InputOptions& input) {
  app.add_option(
         "--in-flight", input.in_flight,
         "Number of concurrent calls; output keeps the order of the inputs")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--json", input.json, "Print one JSON object for each input");
}

void AddBatch(CLI::App& app, InputOptions& input) {
  input.batch = 0;
  app.add_option(
         "--batch", input.batch,
         "Number of inputs per call (default: 32 for a file, otherwise 1)")
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
      "Truncate inputs that are too long for the model, instead of failing");
}

}  // namespace attend
