#include "server/hub/hub_reference.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace attend {
namespace {

constexpr size_t kMaxRepositoryName = 96;  // the hub's own limit
constexpr size_t kMaxPathName = 255;
constexpr size_t kMaxDepth = 4;

bool IsPlain(absl::string_view name, size_t most) {
  return !name.empty() && name.size() <= most && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(c) || absl::StrContains("._-+", c);
         });
}

// The cache writes the '/' between owner and name as "--".
bool IsRepositoryName(absl::string_view name) {
  return IsPlain(name, kMaxRepositoryName) && name[0] != '-' &&
         !absl::StrContains(name, "--") && !absl::StrContains(name, "..");
}

}  // namespace

bool IsPlainPath(absl::string_view path) {
  const std::vector<absl::string_view> names = absl::StrSplit(path, '/');
  return names.size() <= kMaxDepth &&
         std::all_of(names.begin(), names.end(), [](absl::string_view name) {
           return IsPlain(name, kMaxPathName);
         });
}

bool IsCommit(absl::string_view revision) {
  return revision.size() == 40 &&
         std::all_of(revision.begin(), revision.end(), [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<HubReference> ParseHubReference(absl::string_view text) {
  HubReference reference;
  const size_t at = text.find('@');
  if (at != text.npos) reference.revision = std::string(text.substr(at + 1));
  std::vector<absl::string_view> parts =
      absl::StrSplit(text.substr(0, at), '/');
  const bool two = parts.size() >= 2 && IsRepositoryName(parts[0]) &&
                   IsRepositoryName(parts[1]);
  if (two) {
    reference.repository = absl::StrCat(parts[0], "/", parts[1]);
    parts.erase(parts.begin(), parts.begin() + 2);
    reference.file = absl::StrJoin(parts, "/");
  }
  const bool file_is_good =
      parts.empty() ||
      (absl::EndsWith(reference.file, ".gguf") && IsPlainPath(reference.file));
  if (!two || !file_is_good || !IsPlainPath(reference.revision)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "hub is '", absl::CHexEscape(text.substr(0, 300)),
        "', must be OWNER/NAME or OWNER/NAME/FILE.gguf, with @REVISION or ",
        "without: a branch, a tag or a commit"));
  }
  return reference;
}

}  // namespace attend
