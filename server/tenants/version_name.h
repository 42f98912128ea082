#ifndef ATTEND_SERVER_TENANTS_VERSION_NAME_H_
#define ATTEND_SERVER_TENANTS_VERSION_NAME_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace attend {

// "m@2": the name of version 2 of model "m", which is served as a model of its
// own.
struct VersionName {
  absl::string_view model;
  int64_t version = 0;
};

// A number from 1 on, as versions have it: "7", but neither "07" nor "v7".
// Empty: the text is none.
std::optional<int64_t> ParseVersion(absl::string_view text);
// Empty: the name is none of a version. The result refers to `name`.
std::optional<VersionName> ParseVersionName(absl::string_view name);

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_VERSION_NAME_H_
