#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct AliasOptions {
  ConnectionOptions connection;
  std::string name;
  std::vector<std::string> targets;
};

// "m:5". What stands behind the last colon is a weight if it is a number.
v1::AliasTarget ParseTarget(const std::string& text) {
  v1::AliasTarget target;
  const size_t colon = text.rfind(':');
  int weight = 0;
  if (colon != std::string::npos &&
      absl::SimpleAtoi(text.substr(colon + 1), &weight)) {
    target.set_weight(weight);
    target.set_model(text.substr(0, colon));
  } else {
    target.set_model(text);
  }
  return target;
}

int RunAlias(const AliasOptions& options) {
  Client client(ToClientOptions(options.connection));
  v1::SetAliasRequest request;
  request.set_name(options.name);
  for (const std::string& target : options.targets) {
    *request.add_targets() = ParseTarget(target);
  }
  const auto set = client.SetAlias(request);
  if (set.ok()) return kExitOk;
  PrintError(set.status());
  return kExitCallFailed;
}

}  // namespace

Command AddAlias(CLI::App& attend) {
  const auto options = std::make_shared<AliasOptions>();
  CLI::App& command = *attend.add_subcommand(
      "alias",
      "Route calls of a name to models: attend alias en-de en-de:95 en-de@2:5");
  command.add_option("name", options->name, "Name of the alias")->required();
  command.add_option("targets", options->targets,
                     "MODEL or MODEL:WEIGHT. None: remove the alias");
  AddConnection(command, options->connection);
  return {&command, [options] { return RunAlias(*options); }};
}

}  // namespace attend
