#ifndef ATTEND_SERVER_TENANTS_KEY_HASH_H_
#define ATTEND_SERVER_TENANTS_KEY_HASH_H_

#include <array>
#include <optional>

#include "absl/strings/string_view.h"

namespace attend {

// The SHA-256 of a key. The server keeps nothing else of a key.
using KeyHash = std::array<unsigned char, 32>;

// Throws std::bad_alloc without memory; see CatchOutOfMemory().
KeyHash HashKey(absl::string_view key);

// Reads 64 hexadecimal digits, as sha256sum writes them. nullopt: `digits` is
// something else.
std::optional<KeyHash> ParseKeyHash(absl::string_view digits);

// Returns true if the hashes are equal, in constant time.
bool SameHash(const KeyHash& a, const KeyHash& b);

// The key in "Bearer KEY" (RFC 6750). nullopt: the text is something else.
std::optional<absl::string_view> BearerKey(absl::string_view authorization);

}  // namespace attend

#endif  // ATTEND_SERVER_TENANTS_KEY_HASH_H_
