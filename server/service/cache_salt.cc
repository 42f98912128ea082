#include "server/service/cache_salt.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "server/tenants/key_hash.h"

namespace attend {
namespace {

constexpr uint64_t kNamed = uint64_t{1} << 63;
constexpr size_t kMaxSaltBytes = 256;

}  // namespace

uint64_t TenantSalt(uint64_t tenant) {
  const uint64_t salt = tenant & ~kNamed;
  return salt == 0 ? 1 : salt;
}

absl::StatusOr<uint64_t> NamedSalt(const v1::GenerationParams& params) {
  const std::string& name = params.cache_salt();
  if (name.empty()) return 0;
  if (name.size() > kMaxSaltBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("params.cache_salt has %d bytes, limit is %d",
                        name.size(), kMaxSaltBytes));
  }
  // SHA-256, so that nobody finds another name that gives the same salt.
  const KeyHash hash = HashKey(name);
  uint64_t salt = 0;
  std::memcpy(&salt, hash.data(), sizeof(salt));
  return salt | kNamed;
}

}  // namespace attend
