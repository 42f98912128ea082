#ifndef ATTEND_SERVER_APP_OPTION_PARSER_H_
#define ATTEND_SERVER_APP_OPTION_PARSER_H_

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "command_line/program_text.h"
#include "server/app/option_values.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace attend {

// The options of a program, on top of CLI11. Each option is
// * a flag: --max-running=64 or --max-running 64;
// * an environment variable: ATTEND_MAX_RUNNING=64 (empty: not given);
// * a line of the file that --config names: max-running = 64.
// If several are given, the first of this list wins. Not thread-safe.
class OptionParser {
 public:
  static constexpr char kHowGiven[] =
      "Each option is a flag (--name=value), an environment variable, or a\n"
      "line of the file that --config names; the first of these wins.";

  OptionParser();
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  // Adds an option. `value` holds the default now and the result after Parse().
  // `value` must outlive the parser. A list takes the values of all flags of
  // that name; in a variable, commas separate them.
  template <class T>
  void Add(const char* name, T& value, const char* help) {
    constexpr bool kList = std::is_same_v<T, std::vector<std::string>>;
    AddText({.name = name,
             .help = help,
             .shown = ValueText(value),
             .is_list = kList,
             .is_switch = std::is_same_v<T, bool>,
             .parse = [&value](const std::string& text) {
               return ParseValue(text, value);
             }});
  }
  // Adds a flag that has neither a variable nor a line in the file, such as
  // --version.
  void AddFlag(const char* name, bool& value, const char* help);
  // Such a flag, whose value is one of `choices`.
  void AddFlag(const char* name, std::string& value,
               const std::vector<std::string>& choices, const char* help);

  // Reads all options; called once. `arguments` does not have the name of the
  // program. INVALID_ARGUMENT names the flag, variable or line, and its value.
  absl::Status Parse(const std::vector<std::string>& arguments);
  // After Parse(): a sentence for each variable of the environment that was
  // ignored although its name begins with ATTEND_.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // The text of --help: every option with its variable, default and help.
  std::string Help() const;
  // Describes each option, for completions and the manual page.
  std::vector<OptionText> Describe() const;

 private:
  enum class Source { kFlags, kVariables, kFile };

  struct Text {
    std::string name;
    const char* help;
    std::string shown;  // its default
    bool is_list;
    bool is_switch;  // a flag without a value means "true"
    std::function<absl::Status(const std::string&)> parse;
  };

  void AddText(Text option);
  // Throws the errors of CLI11; Parse() catches them.
  void Read(const Text& option, std::vector<std::string> texts) const;
  // Names of all options except valueless flags.
  std::vector<std::string> Names(const char* dashes) const;
  // The error for an argument that is not an option.
  absl::Status Unknown() const;
  std::string Place(const std::string& name) const;
  void ParseVariables();
  absl::Status ParseFile();

  const std::unique_ptr<CLI::App> app_;
  std::vector<CLI::Option*> options_;  // the app's options
  std::vector<std::string> warnings_;
  std::string file_;
  Source source_ = Source::kFlags;  // the current source
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_OPTION_PARSER_H_
