// The `attend` command line.

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/describe.h"
#include "client/cpp/cli/unknown_word.h"
#include "command_line/completions.h"
#include "command_line/man_page.h"

namespace attend {
namespace {

// Options that print what is made of the list of commands, and exit.
void AddTexts(CLI::App& app) {
  const auto describe = [&app] {
    ProgramText text = Describe(app);
    text.version = ATTEND_VERSION;
    return text;
  };
  app.set_version_flag("--version", "attend " ATTEND_VERSION,
                       "Print the version and exit");
  app.add_flag_callback(
      "--man", [=] { throw CLI::CallForVersion(ManPage(describe()), 0); },
      "Print the manual page and exit: man -l <(attend --man)");
  app.add_option_function<std::string>(
         "--completion",
         [=](const std::string& shell) {
           throw CLI::CallForVersion(CompletionScript(describe(), shell), 0);
         },
         "Print the completion script of a shell and exit: source <(attend "
         "--completion bash)")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
}

int Main(int argc, char** argv) {
  CLI::App app("Client of an Attend server", "attend");
  app.require_subcommand(1);
  AddTexts(app);
  app.footer(
      "attend COMMAND --help shows a command's options.\n"
      "Exit code: 0: success, 1: a call failed, 2: wrong usage.");
  std::vector<Command> commands;
  for (const auto add : kCommands) commands.push_back(add(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = UnknownWord(app, error);
    if (!unknown.empty()) {
      std::fprintf(stderr, "attend: %s\n", unknown.c_str());
      return kExitUsage;
    }
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kExitUsage;  // not reached: one is required
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) {
  // If the reader of our output has gone, end as other filters do, even if the
  // parent process ignores the signal.
  std::signal(SIGPIPE, SIG_DFL);
  // The distribution's Abseil searches for cycles of locks, whenever gRPC
  // locks.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return attend::Main(argc, argv);
}
