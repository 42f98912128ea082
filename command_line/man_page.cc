#include "command_line/man_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

// Text as roff takes it: nothing in it is a request, and dashes can be copied.
std::string Escaped(absl::string_view text) {
  const std::string escaped =
      absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  const bool request =
      absl::StartsWith(escaped, ".") || absl::StartsWith(escaped, "'");
  return absl::StrCat(request ? "\\&" : "", escaped);
}

// Lines of running text; an empty line ends a paragraph.
std::string Paragraphs(absl::string_view text) {
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::StrAppend(&lines, line.empty() ? ".PP" : Escaped(line), "\n");
  }
  return lines;
}

std::string OptionParagraph(const OptionText& option) {
  const std::string names = absl::StrJoin(
      option.names, ", ", [&](std::string* out, const std::string& name) {
        absl::StrAppend(out, "\\fB", Escaped(name), "\\fR");
      });
  const std::string choices =
      option.choices.empty()
          ? ""
          : absl::StrCat("One of: ",
                         Escaped(absl::StrJoin(option.choices, ", ")), ".\n");
  const std::string variable =
      option.variable.empty()
          ? ""
          : absl::StrCat("Variable: \\fB", option.variable, "\\fR.\n");
  std::string help = Escaped(option.help);
  if (!help.empty() && !absl::EndsWith(help, ".")) help += '.';
  return absl::StrCat(
      ".TP\n", names,
      option.value.empty()
          ? ""
          : absl::StrCat(" \\fI", Escaped(option.value), "\\fR"),
      "\n", help, "\n", choices, variable);
}

std::string CommandSection(const ProgramText& program,
                           const CommandText& command) {
  std::string text = absl::StrCat(
      ".SS ", Escaped(absl::StrJoin(command.names, ", ")), "\n\\fB",
      Escaped(program.name), " ", Escaped(command.names.front()), "\\fR [",
      "\\fIoption\\fR ...] ", Escaped(command.arguments), "\n.PP\n",
      Escaped(command.help), ".\n");
  if (!command.footer.empty()) {
    absl::StrAppend(&text, ".PP\n", Paragraphs(command.footer));
  }
  for (const OptionText& option : command.options) {
    absl::StrAppend(&text, OptionParagraph(option));
  }
  return text;
}

}  // namespace

std::string ManPage(const ProgramText& program) {
  const bool commands = !program.commands.empty();
  std::string text = absl::StrCat(
      ".TH ", absl::AsciiStrToUpper(program.name), " 1 \"\" \"Attend ",
      program.version, "\"\n.SH NAME\n", Escaped(program.name), " \\- ",
      Escaped(program.help), "\n.SH SYNOPSIS\n\\fB", Escaped(program.name),
      "\\fR", commands ? " \\fIcommand\\fR" : "",
      " [\\fIoption\\fR ...]\n.SH DESCRIPTION\n",
      Paragraphs(program.description), ".SH OPTIONS\n");
  for (const OptionText& option : program.options) {
    absl::StrAppend(&text, OptionParagraph(option));
  }
  if (commands) absl::StrAppend(&text, ".SH COMMANDS\n");
  for (const CommandText& command : program.commands) {
    absl::StrAppend(&text, CommandSection(program, command));
  }
  return text;
}

}  // namespace attend
