#include "client/cpp/cli/unknown_word.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "command_line/did_you_mean.h"

namespace attend {
namespace {

using Words = std::vector<std::string>;

void AddFlagNames(const CLI::App& app, Words& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back(absl::StrCat("--", name));
    }
  }
  for (const CLI::App* group : app.get_subcommands(nullptr)) {
    if (group->get_name().empty()) AddFlagNames(*group, names);
  }
}

Words CommandNames(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
    const Words& others = command->get_aliases();
    names.insert(names.end(), others.begin(), others.end());
  }
  return names;
}

}  // namespace

std::string UnknownWord(const CLI::App& attend, const CLI::ParseError& error) {
  // Without a command that it knows, CLI11 says that one is missing; and that
  // the value of an option that it does not know excludes other inputs.
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  if (code != CLI::ExitCodes::ExtrasError &&
      code != CLI::ExitCodes::RequiredError &&
      code != CLI::ExitCodes::ExcludesError) {
    return "";
  }
  const std::vector<CLI::App*> parsed = attend.get_subcommands();
  const CLI::App& command = parsed.empty() ? attend : *parsed.front();
  const Words words = command.remaining();
  if (words.empty()) return "";
  const std::string see =
      absl::StrCat("; see attend ", parsed.empty() ? "" : command.get_name(),
                   parsed.empty() ? "" : " ", "--help");
  const std::string& word = words.front();
  if (absl::StartsWith(word, "-")) {
    const std::string flag = word.substr(0, word.find('='));
    Words known;
    AddFlagNames(command, known);
    return absl::StrCat("unknown option '", flag, "'", DidYouMean(flag, known),
                        see);
  }
  if (!parsed.empty()) return absl::StrCat("not expected: '", word, "'", see);
  return absl::StrCat("unknown command '", word, "'",
                      DidYouMean(word, CommandNames(attend)), see);
}

}  // namespace attend
