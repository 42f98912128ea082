#include "server/grpc/grpc_weaknesses.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace attend {

bool HasKnownWeaknesses(absl::string_view version) {
  // The first patch of each minor version that has them mended.
  static const auto* const mended =
      new std::map<int, int>{{53, 2}, {54, 3}, {55, 3}, {56, 2}};
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  int major = 0, minor = 0, patch = 0;
  if (parts.size() < 3 || !absl::SimpleAtoi(parts[0], &major) ||
      !absl::SimpleAtoi(parts[1], &minor)) {
    return true;  // unknown
  }
  if (!absl::SimpleAtoi(parts[2], &patch)) patch = 0;  // "0-dev"
  if (major != 1 || minor > 56) return major < 1;
  const auto found = mended->find(minor);
  return found == mended->end() || patch < found->second;
}

}  // namespace attend
