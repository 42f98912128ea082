#ifndef ATTEND_SERVER_HUB_HUB_REFERENCE_H_
#define ATTEND_SERVER_HUB_HUB_REFERENCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// A model on a hub: OWNER/NAME[/FILE.gguf][@REVISION].
struct HubReference {
  std::string repository;         // OWNER/NAME
  std::string file = {};          // the GGUF file; empty: the model as a whole
  std::string revision = "main";  // a branch, a tag or a commit
};

// INVALID_ARGUMENT names the text and its form. Its parts can be used in paths
// and URLs unescaped, except for the '/' in a revision.
absl::StatusOr<HubReference> ParseHubReference(absl::string_view text);

// Returns true for a full commit hash, which is immutable.
bool IsCommit(absl::string_view revision);

// Returns true if a path has only plain names: letters, digits and "._-+", at
// most 4 of 255 bytes, none of which begins with a '.'.
bool IsPlainPath(absl::string_view path);

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_HUB_REFERENCE_H_
