#include "client/cpp/cli/command_text.h"

#include <CLI/CLI.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

// As a shell reads one word.
std::string Quoted(const std::string& word) {
  bool plain = !word.empty();
  for (const char c : word) {
    plain = plain && (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                      absl::StrContains("-_./:@%+=,", c));
  }
  if (plain) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

}  // namespace

std::string CommandLineText(const CLI::App& command) {
  std::string text = absl::StrCat("attend ", command.get_name());
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->check_lname("token")) continue;
    const bool flag = option->get_items_expected_max() == 0;
    if (flag && !option->as<bool>()) continue;
    if (option->nonpositional()) {
      absl::StrAppend(&text, " --", option->get_lnames().front());
    }
    if (flag) continue;
    for (const std::string& value : option->results()) {
      absl::StrAppend(&text, " ", Quoted(value));
    }
  }
  return text;
}

}  // namespace attend
