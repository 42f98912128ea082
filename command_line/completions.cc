#include "command_line/completions.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace attend {
namespace {

using Words = std::vector<std::string>;

// In single quotes, for any of the shells.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string FunctionName(const ProgramText& program) {
  return absl::StrCat("_", absl::StrReplaceAll(program.name, {{"-", "_"}}));
}

std::string BashWords(const std::vector<OptionText>& options, Words words) {
  for (const OptionText& option : options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return absl::StrCat("words=", Quoted(absl::StrJoin(words, " ")));
}

// Lines of `case $command:$before in`: what follows an option with a value.
std::string BashValues(const std::string& command,
                       const std::vector<OptionText>& options) {
  std::string lines;
  Words others;
  for (const OptionText& option : options) {
    if (option.value.empty()) continue;
    Words places;
    for (const std::string& name : option.names) {
      places.push_back(absl::StrCat(command, ":", name));
    }
    if (option.choices.empty()) {
      others.insert(others.end(), places.begin(), places.end());
    } else {
      absl::StrAppend(&lines, "    ", absl::StrJoin(places, "|"),
                      ") words=", Quoted(absl::StrJoin(option.choices, " ")),
                      " ;;\n");
    }
  }
  if (others.empty()) return lines;
  return absl::StrCat(lines, "    ", absl::StrJoin(others, "|"),
                      ") return ;;\n");
}

constexpr char kBashStart[] = R"(() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local words='' command=''
  # A word of its own is the = of --option=value.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";
constexpr char kBashFindCommand[] = R"(  local i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
)";
constexpr char kBashEnd[] = R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
# Where these are no words: names of files.
complete -o default -F )";

std::string BashScript(const ProgramText& program) {
  const std::string function = FunctionName(program);
  const bool commands = !program.commands.empty();
  std::string find, words,
      values = BashValues(commands ? "" : "all", program.options);
  Words names;
  for (const CommandText& command : program.commands) {
    const std::string& name = command.names.front();
    absl::StrAppend(&find, "      ", absl::StrJoin(command.names, "|"),
                    ") command=", name, "; break ;;\n");
    absl::StrAppend(&words, "    ", name, ") ", BashWords(command.options, {}),
                    " ;;\n");
    absl::StrAppend(&values, BashValues(name, command.options));
    names.insert(names.end(), command.names.begin(), command.names.end());
  }
  return absl::StrCat(
      function, kBashStart,
      commands ? absl::StrCat(kBashFindCommand, find, "    esac\n  done\n")
               : "  command=all\n",
      "  case $command in\n", words, "    *) ",
      BashWords(program.options, names), " ;;\n  esac\n",
      "  case $command:$before in\n", values, kBashEnd, function, " ",
      program.name, "\n");
}

// Returns the arguments of zsh's _arguments for the options, one per line.
std::string ZshOptions(const std::vector<OptionText>& options,
                       absl::string_view indent) {
  std::string lines;
  for (const OptionText& option : options) {
    const std::string help = absl::StrReplaceAll(
        FirstClause(option.help), {{"[", "("}, {"]", ")"}, {":", " "}});
    const std::string value =
        option.value.empty() ? ""
        : option.choices.empty()
            ? absl::StrCat(":", option.value, ":_files")
            : absl::StrCat(":", option.value, ":(",
                           absl::StrJoin(option.choices, " "), ")");
    for (const std::string& name : option.names) {
      const bool takes = !option.value.empty() && absl::StartsWith(name, "--");
      absl::StrAppend(
          &lines, indent,
          Quoted(absl::StrCat("(", absl::StrJoin(option.names, " "), ")", name,
                              takes ? "=" : "", "[", help, "]", value)),
          " \\\n");
    }
  }
  return lines;
}

std::string ZshScript(const ProgramText& program) {
  const std::string function = FunctionName(program);
  std::string text =
      absl::StrCat("#compdef ", program.name, "\n", function, "() {\n");
  if (program.commands.empty()) {
    absl::StrAppend(&text, "  _arguments \\\n",
                    ZshOptions(program.options, "    "), "    && return\n}\n");
    return absl::StrCat(text, function, " \"$@\"\n");
  }
  std::string described, cases;
  for (const CommandText& command : program.commands) {
    for (const std::string& name : command.names) {
      const std::string help =
          absl::StrReplaceAll(FirstClause(command.help), {{":", " "}});
      absl::StrAppend(&described, "    ", Quoted(absl::StrCat(name, ":", help)),
                      "\n");
    }
    absl::StrAppend(&cases, "        ", absl::StrJoin(command.names, "|"),
                    ")\n          _arguments \\\n",
                    ZshOptions(command.options, "            "),
                    "            '*:file:_files' ;;\n");
  }
  absl::StrAppend(
      &text, "  local -a commands\n  local context state state_descr line\n",
      "  typeset -A opt_args\n  commands=(\n", described,
      "  )\n  _arguments -C \\\n", ZshOptions(program.options, "    "),
      "    '1:command:->command' '*::argument:->argument'\n",
      "  case $state in\n    command) _describe command commands ;;\n",
      "    argument)\n      case $words[1] in\n", cases,
      "      esac ;;\n  esac\n}\n", function, " \"$@\"\n");
  return text;
}

std::string FishOptions(const std::string& program,
                        const std::string& condition,
                        const std::vector<OptionText>& options) {
  std::string lines;
  for (const OptionText& option : options) {
    absl::StrAppend(&lines, "complete -c ", program,
                    condition.empty() ? "" : " -n ", condition);
    for (absl::string_view name : option.names) {
      const bool is_long = absl::StartsWith(name, "--");
      absl::StrAppend(&lines, is_long ? " -l " : " -s ",
                      name.substr(is_long ? 2 : 1));
    }
    if (!option.choices.empty()) {
      absl::StrAppend(&lines, " -x -a ",
                      Quoted(absl::StrJoin(option.choices, " ")));
    } else if (!option.value.empty()) {
      absl::StrAppend(&lines, " -r -F");
    }
    absl::StrAppend(&lines, " -d ", Quoted(FirstClause(option.help)), "\n");
  }
  return lines;
}

std::string FishScript(const ProgramText& program) {
  constexpr char kNoCommand[] = "__fish_use_subcommand";
  std::string text =
      FishOptions(program.name, program.commands.empty() ? "" : kNoCommand,
                  program.options);
  for (const CommandText& command : program.commands) {
    for (const std::string& name : command.names) {
      absl::StrAppend(&text, "complete -c ", program.name, " -f -n ",
                      kNoCommand, " -a ", name, " -d ",
                      Quoted(FirstClause(command.help)), "\n");
    }
    absl::StrAppend(
        &text,
        FishOptions(program.name,
                    Quoted(absl::StrCat("__fish_seen_subcommand_from ",
                                        absl::StrJoin(command.names, " "))),
                    command.options));
  }
  return text;
}

}  // namespace

std::string CompletionScript(const ProgramText& program,
                             absl::string_view shell) {
  const std::string script = shell == "bash"  ? BashScript(program)
                             : shell == "zsh" ? ZshScript(program)
                                              : FishScript(program);
  // zsh wants its own line first.
  const std::string how =
      absl::StrCat("# Made by: ", program.name, " --completion ", shell, "\n");
  return shell == "zsh" ? absl::StrCat(script, how) : absl::StrCat(how, script);
}

}  // namespace attend
