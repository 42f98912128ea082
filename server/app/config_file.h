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

// Reads a file of options in a simple form of TOML:
// * no sections, and each name once;
// * '#' begins a comment, except inside a list;
// * a value with spaces or commas stands in quotes;
// * there is no '#' and no '\' in quotes.
// INVALID_ARGUMENT names the file and what is wrong in it. A file that is not
// regular, cannot be read, is longer than 64 KiB or is not plain text is
// refused too.
absl::StatusOr<std::vector<ConfigEntry>> ReadConfigFile(
    const std::string& file);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_CONFIG_FILE_H_
