#ifndef ATTEND_CLIENT_CPP_CLI_PROFILE_H_
#define ATTEND_CLIENT_CPP_CLI_PROFILE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace attend {

// The file of profiles: attend/profiles.toml in $XDG_CONFIG_HOME, else in
// ~/.config. Empty if there is no such directory.
std::string ProfilesFile();

// What the section [name] of a TOML file sets, by the names of options: "ca".
// An empty name stands for [default], which need not be there; neither need the
// file. INVALID_ARGUMENT names the file, and what is not as it must be: no such
// section, a name that is none of `options`, a value that is a list.
absl::StatusOr<std::map<std::string, std::string>> ReadProfile(
    const std::string& file, const std::string& name,
    absl::Span<const char* const> options);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_PROFILE_H_
