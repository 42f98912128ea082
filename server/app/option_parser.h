#ifndef ATTEND_SERVER_APP_OPTION_PARSER_H_
#define ATTEND_SERVER_APP_OPTION_PARSER_H_

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "server/app/option_values.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace attend {

// Options of a program, on top of CLI11. Each is a flag (--max-running=64 or
// --max-running 64), an environment variable (ATTEND_MAX_RUNNING; empty is as
// unset) and a line of a file (max-running = 64), which --config names; the
// first of these that is given wins. Not thread-safe.
class OptionParser {
 public:
  OptionParser();
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  // `value` has the default, and must outlive Parse(). A list takes the values
  // of all flags of that name, in a variable with commas between.
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
  // A flag alone, like --version.
  void AddFlag(const char* name, bool& value, const char* help);

  // Once. `arguments` leaves out the program's name. INVALID_ARGUMENT names the
  // flag, variable or line, and its value.
  absl::Status Parse(const std::vector<std::string>& arguments);

  // Every option with its variable, default and help.
  std::string Help() const;

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
  // Throws what CLI11 expects.
  void Read(const Text& option, std::vector<std::string> texts) const;
  std::string Place(const std::string& name) const;
  void ParseVariables();
  absl::Status ParseFile();

  const std::unique_ptr<CLI::App> app_;
  std::vector<CLI::Option*> options_;  // of the app
  std::string file_;
  Source source_ = Source::kFlags;  // of what is read now
};

}  // namespace attend

#endif  // ATTEND_SERVER_APP_OPTION_PARSER_H_
