#ifndef ATTEND_SERVER_HUB_CONTENT_HASH_H_
#define ATTEND_SERVER_HUB_CONTENT_HASH_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Returns true if a text is the hash of a hub's file, in hexadecimal: SHA-256
// of its bytes, or of a small file Git's SHA-1 of a blob.
bool IsContentHash(absl::string_view text);

// The hash of the same kind as `like` of all that the descriptor has, which is
// `size` bytes. Asks `stopping` now and then, whose error ends it.
absl::StatusOr<std::string> ContentHash(
    int descriptor, int64_t size, absl::string_view like,
    absl::FunctionRef<absl::Status()> stopping);

}  // namespace attend

#endif  // ATTEND_SERVER_HUB_CONTENT_HASH_H_
