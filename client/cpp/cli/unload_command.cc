#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct UnloadOptions {
  ConnectionOptions connection;
  std::string name;
};

int RunUnload(const UnloadOptions& options) {
  Client client(ToClientOptions(options.connection));
  const auto unloaded = client.UnloadModel(options.name);
  if (unloaded.ok()) return kExitOk;
  PrintError(unloaded.status());
  return kExitCallFailed;
}

}  // namespace

Command AddUnload(CLI::App& attend) {
  const auto options = std::make_shared<UnloadOptions>();
  CLI::App& command = *attend.add_subcommand(
      "unload", "Remove a model from service; running calls finish");
  command.add_option("name", options->name, "Name of the model")->required();
  AddConnection(command, options->connection);
  return {&command, [options] { return RunUnload(*options); }};
}

}  // namespace attend
