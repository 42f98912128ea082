#include "server/tenants/key_check.h"

#include <optional>

#include "absl/status/statusor.h"
#include "engine/tensor/out_of_memory.h"
#include "server/tenants/key_hash.h"

namespace attend {

KeyCheck NewKeyCheck(const std::string& sha256, const Tenants* tenants) {
  const std::optional<KeyHash> wanted = ParseKeyHash(sha256);
  if (!wanted.has_value()) return nullptr;
  return [hash = *wanted, tenants](absl::string_view authorization) {
    const auto opens = [&]() -> absl::StatusOr<bool> {
      const auto key = BearerKey(authorization);
      if (key.has_value() && SameHash(HashKey(*key), hash)) return true;
      return tenants != nullptr &&
             tenants->Find({.authorization = authorization}).ok();
    };
    return CatchOutOfMemory(opens).value_or(false);
  };
}

}  // namespace attend
