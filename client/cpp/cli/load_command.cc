#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct LoadOptions {
  ConnectionOptions connection;
  std::string name;
  int64_t version = 0;
};

int RunLoad(const LoadOptions& options) {
  Client client(ToClientOptions(options.connection));
  const auto loaded = client.LoadModel(options.name, options.version);
  if (!loaded.ok()) {
    PrintError(loaded.status());
    return kExitCallFailed;
  }
  const v1::Model& model = loaded->model();
  return Print(absl::StrCat(model.name(), " version ", model.version(), "\n"))
             ? kExitOk
             : kExitCallFailed;
}

}  // namespace

Command AddLoad(CLI::App& attend) {
  const auto options = std::make_shared<LoadOptions>();
  CLI::App& command =
      *attend.add_subcommand("load",
                             "Load a model, or reload it and replace the old "
                             "one once the new one is ready");
  command
      .add_option("name", options->name,
                  "Name of the model; NAME@VERSION is a version that is served "
                  "in addition to NAME")
      ->required();
  command
      .add_option("version", options->version,
                  "Version that NAME becomes (default: the highest one)")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max(),
                         "NONNEGATIVE"));
  AddConnection(command, options->connection);
  return {&command, [options] { return RunLoad(*options); }};
}

}  // namespace attend
