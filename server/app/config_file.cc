#include "server/app/config_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// CLI11's reader takes time and memory in proportion to the square of the
// length of some lines.
constexpr size_t kMaxBytes = 64 * 1024;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

absl::StatusOr<std::string> ReadText(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) return Bad("there is no such file");
  // A device or a pipe may have no end.
  if (!std::filesystem::is_regular_file(status)) {
    return Bad("is not a regular file");
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream.is_open()) return Bad("cannot be read");
  std::string text(kMaxBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() > kMaxBytes) {
    return Bad(absl::StrCat("is longer than ", kMaxBytes, " bytes"));
  }
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_iscntrl(c) && !absl::ascii_isspace(c);
  });
  if (!plain) return Bad("is not plain text");
  return text;
}

// Refuses texts that different versions of CLI11 read in different ways: quotes
// and lists without an end, comments in lists, escapes in quotes.
absl::Status CheckValues(const std::string& text) {
  int depth = 0;
  char quote = '\0';
  bool comment = false;
  for (const char c : text + "\n") {
    if (c == '\n') {
      if (quote != '\0') return Bad("has a quote that does not end");
      comment = false;
    } else if (quote != '\0') {
      if (c == '#' || c == '\\') return Bad("has '#' or '\\' in quotes");
      if (c == quote) quote = '\0';
    } else if (!comment) {
      if (c == '#' && depth > 0) return Bad("has a comment in a list");
      if (c == '"' || c == '\'') quote = c;
      comment = c == '#';
      depth += (c == '[') - (c == ']');
    }
  }
  return depth == 0 ? absl::OkStatus() : Bad("has a list that does not end");
}

absl::StatusOr<std::vector<ConfigEntry>> ParseText(const std::string& text) {
  RETURN_IF_ERROR(CheckValues(text));
  std::istringstream stream(text);
  CLI::ConfigTOML toml;
  toml.parentSeparator('\0');  // so a dot is no more than a part of a name
  std::vector<ConfigEntry> entries;
  std::set<std::string> names;
  for (CLI::ConfigItem& item : toml.from_config(stream)) {
    const std::string name = absl::CHexEscape(item.name.substr(0, 200));
    if (!item.parents.empty()) {
      return Bad(
          absl::StrCat("has the section [",
                       absl::CHexEscape(item.parents.front().substr(0, 200)),
                       "], but options stand in none"));
    }
    if (!names.insert(item.name).second) {
      return Bad(absl::StrCat("has '", name, "' twice"));
    }
    entries.push_back({std::move(item.name), std::move(item.inputs)});
  }
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ReadConfigFile(
    const std::string& file) try {
  auto text = ReadText(file);
  auto entries = text.ok() ? ParseText(*text) : text.status();
  if (entries.ok()) return entries;
  return Bad(absl::StrCat(absl::CHexEscape(file.substr(0, 200)), ": ",
                          entries.status().message()));
} catch (const std::exception& error) {  // the reader's
  return Bad(
      absl::StrCat(absl::CHexEscape(file.substr(0, 200)), ": ", error.what()));
}

}  // namespace attend
