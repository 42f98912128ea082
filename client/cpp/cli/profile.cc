#include "client/cpp/cli/profile.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "command_line/did_you_mean.h"

namespace attend {
namespace {

constexpr char kDefault[] = "default";

// What CLI11 puts into its list where a section begins and ends.
bool IsMark(const CLI::ConfigItem& item) {
  return item.name == "++" || item.name == "--";
}

// The section of an item. CLI11 takes [default] for no section.
std::string SectionOf(const CLI::ConfigItem& item) {
  return item.parents.empty() ? kDefault : absl::StrJoin(item.parents, ".");
}

absl::StatusOr<std::string> ValueOf(const std::string& file,
                                    const CLI::ConfigItem& item,
                                    absl::Span<const char* const> options) {
  const auto error = [&](auto... parts) {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": [", SectionOf(item), "] ", item.name, ": ", parts...));
  };
  if (std::find(options.begin(), options.end(), absl::string_view(item.name)) ==
      options.end()) {
    const std::vector<std::string> known(options.begin(), options.end());
    return error("unknown", DidYouMean(item.name, known), "; known are ",
                 absl::StrJoin(options, ", "));
  }
  if (item.inputs.size() != 1) return error("must have one value");
  return item.inputs[0];
}

}  // namespace

std::string ProfilesFile() {
  if (const char* const config = std::getenv("XDG_CONFIG_HOME");
      config != nullptr && *config == '/') {
    return absl::StrCat(config, "/attend/profiles.toml");
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return "";
  return absl::StrCat(home, "/.config/attend/profiles.toml");
}

absl::StatusOr<std::map<std::string, std::string>> ReadProfile(
    const std::string& file, const std::string& name,
    absl::Span<const char* const> options) {
  std::map<std::string, std::string> values;
  std::ifstream stream(file);
  if (!stream.is_open()) {
    if (name.empty()) return values;
    return absl::InvalidArgumentError(
        absl::StrCat("profile '", name, "': cannot open '", file,
                     "', which would have a section [", name, "]"));
  }
  const std::string wanted = name.empty() ? kDefault : name;
  std::set<std::string> sections;
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(stream)) {
      if (IsMark(item)) continue;
      sections.insert(SectionOf(item));
      if (SectionOf(item) != wanted) continue;
      auto value = ValueOf(file, item, options);
      if (!value.ok()) return value.status();
      values[item.name] = *std::move(value);
    }
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", error.what()));
  }
  if (name.empty() || sections.count(name) == 1) return values;
  const std::vector<std::string> known(sections.begin(), sections.end());
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": no profile '", name, "'", DidYouMean(name, known)));
}

}  // namespace attend
