#include "server/app/option_parser.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "command_line/did_you_mean.h"
#include "engine/tensor/status_macros.h"
#include "server/app/config_file.h"
#include "server/app/environment.h"

namespace attend {
OptionParser::OptionParser() : app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag();  // ours follows a check of all values
  Add("config", file_,
      "TOML file of options, one name = value per line, without the dashes: "
      "max-running = 64, aging = \"5s\", model = [\"/models/a\", "
      "\"/models/b\"]. Flags and variables take precedence.");
}

OptionParser::~OptionParser() = default;

void OptionParser::AddText(Text option) {
  CLI::Option& added = *app_->add_option(
      absl::StrCat("--", option.name),
      [this, option](const CLI::results_t& texts) {
        Read(option, texts);
        return true;
      },
      option.help);
  added.default_str(option.shown)
      ->type_name("VALUE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (option.is_switch) added.expected(0);
  options_.push_back(&added);
}

void OptionParser::AddFlag(const char* name, bool& value, const char* help) {
  app_->add_flag(name, value, help);
}

void OptionParser::AddFlag(const char* name, std::string& value,
                           const std::vector<std::string>& choices,
                           const char* help) {
  app_->add_option(name, value, help)->check(CLI::IsMember(choices));
}

std::string OptionParser::Place(const std::string& name) const {
  switch (source_) {
    case Source::kFlags:
      return absl::StrCat("--", name);
    case Source::kVariables:
      return OptionVariable(name);
    case Source::kFile:
      return absl::StrCat(file_, ": ", name);
  }
  return name;
}

void OptionParser::Read(const Text& option,
                        std::vector<std::string> texts) const {
  if (option.is_list && source_ == Source::kVariables) {
    texts = absl::StrSplit(texts.front(), ',');
  }
  if (!option.is_list && source_ == Source::kFile && texts.size() != 1) {
    throw CLI::ValidationError(Place(option.name),
                               absl::StrCat("has ", texts.size(), " values"));
  }
  for (const std::string& text : texts) {
    const absl::Status status = option.parse(text);
    if (status.ok()) continue;
    throw CLI::ValidationError(Place(option.name),
                               std::string(status.message()));
  }
}

// Variables are read here, because CLI11 would let a file win over variables.
void OptionParser::ParseVariables() {
  source_ = Source::kVariables;
  std::vector<std::string> known;
  for (CLI::Option* const option : options_) {
    const std::string name = option->get_single_name();
    const std::string& variable = known.emplace_back(OptionVariable(name));
    const char* const value = std::getenv(variable.c_str());
    if (value != nullptr && IsServiceLink(name, value)) {
      warnings_.push_back(ServiceLinkWarning(variable, value));
      continue;
    }
    option->envname(variable);
  }
  for (std::string& warning : UnknownVariables(environ, known)) {
    warnings_.push_back(std::move(warning));
  }
  std::istringstream nothing;
  app_->parse_from_stream(nothing);
}

absl::Status OptionParser::ParseFile() {
  if (file_.empty()) return absl::OkStatus();
  source_ = Source::kFile;
  ASSIGN_OR_RETURN(const std::vector<ConfigEntry> entries,
                   ReadConfigFile(file_));
  for (const ConfigEntry& entry : entries) {
    const auto found = std::find_if(
        options_.begin(), options_.end(), [&](const CLI::Option* option) {
          return option->get_single_name() == entry.name;
        });
    if (found == options_.end() || *found == options_.front()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file_, ": unknown option '",
                       absl::CHexEscape(entry.name.substr(0, 200)), "'",
                       DidYouMean(entry.name, Names("")), "; see --help"));
    }
    if (!(*found)->empty()) continue;
    (*found)->add_result(entry.values);
    (*found)->run_callback();
  }
  return absl::OkStatus();
}

std::vector<std::string> OptionParser::Names(const char* dashes) const {
  std::vector<std::string> names;
  names.reserve(options_.size());
  for (const CLI::Option* option : options_) {
    names.push_back(absl::StrCat(dashes, option->get_single_name()));
  }
  return names;
}

absl::Status OptionParser::Unknown() const {
  const std::vector<std::string> words = app_->remaining();
  const auto flag = std::find_if(
      words.begin(), words.end(),
      [](const std::string& word) { return absl::StartsWith(word, "-"); });
  const std::string word =
      absl::CHexEscape((flag == words.end() ? words[0] : *flag).substr(0, 200));
  const std::string name = word.substr(0, word.find('='));
  return absl::InvalidArgumentError(absl::StrCat(
      "not expected: ", word, DidYouMean(name, Names("--")), "; see --help"));
}

absl::Status OptionParser::Parse(const std::vector<std::string>& arguments) {
  try {
    // CLI11 reads the list from its end.
    app_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    ParseVariables();
    return ParseFile();
  } catch (const CLI::ExtrasError&) {
    return Unknown();
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(std::string(error.what()).substr(0, 500));
  }
}

std::vector<OptionText> OptionParser::Describe() const {
  std::vector<OptionText> texts;
  for (const CLI::Option* option : app_->get_options()) {
    OptionText& text = texts.emplace_back();
    for (const std::string& name : option->get_snames()) {
      text.names.push_back(absl::StrCat("-", name));
    }
    for (const std::string& name : option->get_lnames()) {
      text.names.push_back(absl::StrCat("--", name));
    }
    if (option->get_items_expected_max() > 0) text.value = "VALUE";
    text.choices = ChoicesOf(option->get_type_name());
    text.help = option->get_description();
    if (option->get_default_str().empty()) continue;
    text.variable = OptionVariable(option->get_single_name());
    if (option->get_default_str() == "empty") continue;
    absl::StrAppend(&text.help, " Default: ", option->get_default_str(), ".");
  }
  return texts;
}

std::string OptionParser::Help() const {
  std::string text = absl::StrCat(kHowGiven, "\n\n");
  for (const CLI::Option* option : app_->get_options()) {
    absl::StrAppend(&text, "  --", option->get_single_name());
    if (!option->get_default_str().empty()) {
      absl::StrAppend(&text, "  (", OptionVariable(option->get_single_name()),
                      ", default ", option->get_default_str(), ")");
    }
    absl::StrAppend(&text, "\n      ", option->get_description(), "\n");
  }
  return text;
}

}  // namespace attend
