#include "client/cpp/cli/describe.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

OptionText DescribeOption(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) {
    text.names.push_back(absl::StrCat("-", name));
  }
  for (const std::string& name : option.get_lnames()) {
    text.names.push_back(absl::StrCat("--", name));
  }
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    text.choices = ChoicesOf(type);
    text.value = type.substr(0, type.find(':'));
    if (text.value.empty()) text.value = "VALUE";
  }
  text.variable = option.get_envname();
  text.help = option.get_description();
  if (!option.get_default_str().empty()) {
    absl::StrAppend(&text.help, " (default: ", option.get_default_str(), ")");
  }
  return text;
}

// Adds those of groups, too, and what the positional arguments are.
void AddOptionsOf(const CLI::App& app, CommandText& text) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) {
      text.options.push_back(DescribeOption(*option));
    } else {
      absl::StrAppend(&text.arguments, text.arguments.empty() ? "" : " ", "[",
                      option->get_single_name(), " ...]");
    }
  }
  for (const CLI::App* group : app.get_subcommands(nullptr)) {
    if (group->get_name().empty()) AddOptionsOf(*group, text);
  }
}

}  // namespace

ProgramText Describe(const CLI::App& attend) {
  ProgramText text = {.name = attend.get_name(),
                      .version = {},
                      .help = attend.get_description(),
                      .description = attend.get_footer()};
  CommandText own;
  AddOptionsOf(attend, own);
  text.options = std::move(own.options);
  for (const CLI::App* command : attend.get_subcommands(nullptr)) {
    CommandText& added = text.commands.emplace_back(
        CommandText{.names = {command->get_name()},
                    .help = command->get_description(),
                    .footer = command->get_footer()});
    // That of `attend` is inherited.
    if (added.footer == attend.get_footer()) added.footer.clear();
    for (const std::string& alias : command->get_aliases()) {
      added.names.push_back(alias);
    }
    AddOptionsOf(*command, added);
  }
  return text;
}

}  // namespace attend
