#ifndef ATTEND_COMMAND_LINE_PROGRAM_TEXT_H_
#define ATTEND_COMMAND_LINE_PROGRAM_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// A program's description of itself, for --help, completions and manual pages.

struct OptionText {
  std::vector<std::string> names;         // with dashes: -m, --model
  std::string value = {};                 // such as FILE; empty: no value
  std::vector<std::string> choices = {};  // allowed values; empty: any
  std::string variable = {};              // variable that also sets the option
  std::string help = {};
};

struct CommandText {
  std::vector<std::string> names;  // aliases, too
  std::string help = {};
  std::string arguments = {};  // as [url]; empty: takes none
  std::string footer = {};
  std::vector<OptionText> options = {};
};

struct ProgramText {
  std::string name;
  std::string version;
  std::string help;  // in a few words, without a point
  // Paragraphs; an empty line between two.
  std::string description = {};
  std::vector<OptionText> options = {};
  std::vector<CommandText> commands = {};  // one of them has to be given
};

// Returns the text before the first ". ", ": ", "; " or " (".
absl::string_view FirstClause(absl::string_view help);

// The choices in the name that CLI11 has of a type, such as "TEXT:{html,xml}";
// none of others.
std::vector<std::string> ChoicesOf(const std::string& type);

}  // namespace attend

#endif  // ATTEND_COMMAND_LINE_PROGRAM_TEXT_H_
