#ifndef ATTEND_SERVER_APP_CONFIG_FILE_H_
#define ATTEND_SERVER_APP_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attend {

// One "name = value" of a file, or "name = [value, value]".
struct ConfigEntry {
  std::string name;
  std::vector<std::string> values;
};

// Reads a file of options in TOML: no sections, each name once, '#' begins a
// comment, but not inside a list. Values with spaces or commas stand in quotes,
// which hold neither '#' nor '\'.
// INVALID_ARGUMENT names the file: not a readable regular file, longer than
// 64 KiB, not plain text, or not of that form.
absl::StatusOr<std::vector<ConfigEntry>> ReadConfigFile(
    const std::string& file);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_CONFIG_FILE_H_
