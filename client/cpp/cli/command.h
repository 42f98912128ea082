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

// A subcommand of `attend`. Its file is NAME_command.cc.
struct Command {
  CLI::App* app;  // has the options
  // Does the work, after the command line has been read. Writes results to
  // standard output and messages to standard error. Returns the exit code.
  std::function<int()> run;
};

// Each of these adds a subcommand to `attend`.
Command AddGenerate(CLI::App& attend);
Command AddChat(CLI::App& attend);
Command AddScore(CLI::App& attend);
Command AddEmbed(CLI::App& attend);
Command AddClassify(CLI::App& attend);
Command AddFillMask(CLI::App& attend);
Command AddAnswer(CLI::App& attend);
Command AddRerank(CLI::App& attend);
Command AddTokenize(CLI::App& attend);
Command AddModels(CLI::App& attend);
Command AddLoad(CLI::App& attend);
Command AddUnload(CLI::App& attend);
Command AddAlias(CLI::App& attend);
Command AddProfile(CLI::App& attend);
Command AddConvert(CLI::App& attend);
Command AddBench(CLI::App& attend);
Command AddTop(CLI::App& attend);

// All subcommands, in the order of --help.
inline constexpr Command (*kCommands[])(CLI::App&) = {
    AddGenerate, AddChat,    AddScore,    AddEmbed,  AddClassify, AddFillMask,
    AddAnswer,   AddRerank,  AddTokenize, AddModels, AddLoad,     AddUnload,
    AddAlias,    AddProfile, AddConvert,  AddBench,  AddTop};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_COMMAND_H_
