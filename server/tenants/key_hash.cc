#include "server/tenants/key_hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "engine/tensor/check.h"

namespace attend {

KeyHash HashKey(absl::string_view key) {
  KeyHash hash;
  // It fails only if there is no memory.
  if (EVP_Digest(key.data(), key.size(), hash.data(), nullptr, EVP_sha256(),
                 nullptr) != 1) {
    throw std::bad_alloc();  // as where an object has no memory
  }
  return hash;
}

std::optional<KeyHash> ParseKeyHash(absl::string_view digits) {
  KeyHash hash;
  if (digits.size() != 2 * hash.size() ||
      !std::all_of(digits.begin(), digits.end(), absl::ascii_isxdigit)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < hash.size(); ++i) {
    uint32_t byte = 0;
    ATTEND_CHECK(absl::SimpleHexAtoi(digits.substr(2 * i, 2), &byte));
    hash[i] = static_cast<unsigned char>(byte);
  }
  return hash;
}

bool SameHash(const KeyHash& a, const KeyHash& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<absl::string_view> BearerKey(absl::string_view authorization) {
  constexpr absl::string_view kScheme = "bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kScheme)) return std::nullopt;
  authorization.remove_prefix(kScheme.size());
  const absl::string_view key = absl::StripAsciiWhitespace(authorization);
  if (key.empty()) return std::nullopt;
  return key;
}

}  // namespace attend
