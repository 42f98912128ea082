#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct ModelsOptions {
  ConnectionOptions connection;
  std::string name;
  bool json = false;
};

// "generate, embed"
std::string Tasks(const v1::Model& model) {
  return absl::StrJoin(model.tasks(), ", ", [](std::string* out, int task) {
    const std::string name = v1::Task_Name(static_cast<v1::Task>(task));
    absl::StrAppend(out, absl::AsciiStrToLower(absl::StrReplaceAll(
                             name, {{"TASK_", ""}, {"_", "-"}})));
  });
}

// "en-de:95, en-de@2:5"
std::string Targets(const v1::Alias& alias) {
  return absl::StrJoin(alias.targets(), ", ",
                       [](std::string* out, const v1::AliasTarget& target) {
                         absl::StrAppend(out, target.model(), ":",
                                         target.weight());
                       });
}

std::string ToTable(const v1::ListModelsResponse& response) {
  std::string table = absl::StrFormat(
      "%-24s %-8s %-10s %-6s %-6s %10s %10s %6s  %s\n", "MODEL", "VERSION",
      "FAMILY", "DTYPE", "READY", "SOURCE", "TARGET", "BEAMS", "TASKS");
  for (const v1::Model& model : response.models()) {
    absl::StrAppendFormat(
        &table, "%-24s %-8d %-10s %-6s %-6s %10d %10d %6d  %s\n", model.name(),
        model.version(), model.family(), model.dtype(),
        model.ready() ? "yes" : "no", model.max_source_tokens(),
        model.max_target_tokens(), model.max_beams(), Tasks(model));
  }
  for (const v1::Alias& alias : response.aliases()) {
    absl::StrAppendFormat(&table, "%-24s is an alias of %s\n", alias.name(),
                          Targets(alias));
  }
  for (const v1::Model& model : response.models()) {
    if (model.ready()) continue;
    absl::StrAppendFormat(&table, "%s is not ready: %s\n", model.name(),
                          model.error());
  }
  return table;
}

int ExitAfter(const std::string& text) {
  return Print(text) ? kExitOk : kExitCallFailed;
}

int Fail(const absl::Status& status) {
  PrintError(status);
  return kExitCallFailed;
}

int RunModels(const ModelsOptions& options) {
  Client client(ToClientOptions(options.connection));
  const std::string& name =
      options.name.empty() ? options.connection.model : options.name;
  if (name.empty()) {
    const auto models = client.ListModels();
    if (!models.ok()) return Fail(models.status());
    return ExitAfter(options.json ? ToJsonLine(*models) : ToTable(*models));
  }
  const auto model = client.GetModel(name);
  if (!model.ok()) return Fail(model.status());
  return ExitAfter(options.json ? ToJsonLine(*model) : model->DebugString());
}

}  // namespace

Command AddModels(CLI::App& attend) {
  const auto options = std::make_shared<ModelsOptions>();
  CLI::App& command = *attend.add_subcommand(
      "models", "List the models of the server, or show one with its defaults");
  command.add_option("name", options->name, "Name of the model to show");
  AddConnection(command, options->connection);
  command.add_flag("--json", options->json, "Print JSON");
  return {&command, [options] { return RunModels(*options); }};
}

}  // namespace attend
