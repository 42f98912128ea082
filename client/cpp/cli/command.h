#ifndef ATTEND_CLIENT_CPP_CLI_COMMAND_H_
#define ATTEND_CLIENT_CPP_CLI_COMMAND_H_

#include <functional>

namespace CLI {
class App;
}

namespace attend {

// Exit codes of the `attend` command line.
inline constexpr int kExitOk = 0;
inline constexpr int kExitCallFailed = 1;
inline constexpr int kExitUsage = 2;

// A subcommand of `attend`, as its file (NAME_command.cc) makes it: its options
// are in `app`, and `run` does what they say after the command line is read.
// Results go to standard output, messages to standard error; returns the exit
// code.
struct Command {
  CLI::App* app;
  std::function<int()> run;
};

// All subcommands, in the order of --help. Each adds itself to `attend`.
Command AddGenerate(CLI::App& attend);
Command AddChat(CLI::App& attend);
Command AddScore(CLI::App& attend);
Command AddEmbed(CLI::App& attend);
Command AddClassify(CLI::App& attend);
Command AddFillMask(CLI::App& attend);
Command AddRerank(CLI::App& attend);
Command AddTokenize(CLI::App& attend);
Command AddModels(CLI::App& attend);
Command AddBench(CLI::App& attend);

inline constexpr Command (*kCommands[])(CLI::App&) = {
    AddGenerate, AddChat,   AddScore,    AddEmbed,  AddClassify,
    AddFillMask, AddRerank, AddTokenize, AddModels, AddBench};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_COMMAND_H_
