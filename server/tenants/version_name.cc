#include "server/tenants/version_name.h"

#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace attend {

std::optional<int64_t> ParseVersion(absl::string_view text) {
  int64_t version = 0;
  if (!absl::SimpleAtoi(text, &version) || version < 1 ||
      absl::StrCat(version) != text) {
    return std::nullopt;
  }
  return version;
}

std::optional<VersionName> ParseVersionName(absl::string_view name) {
  const size_t at = name.rfind('@');
  if (at == absl::string_view::npos || at == 0) return std::nullopt;
  const auto version = ParseVersion(name.substr(at + 1));
  if (!version) return std::nullopt;
  return VersionName{name.substr(0, at), *version};
}

}  // namespace attend
