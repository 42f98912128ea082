#include "server/service/cache_salt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/status/status.h"

namespace attend {
namespace {

constexpr uint64_t kNamed = uint64_t{1} << 63;

absl::StatusOr<uint64_t> SaltOf(const std::string& name) {
  v1::GenerationParams params;
  params.set_cache_salt(name);
  return NamedSalt(params);
}

// Salt 0 is that of requests without a tenant.
TEST(CacheSaltTest, TenantsHaveSaltsThatNobodyCanName) {
  std::set<uint64_t> salts = {0};
  for (const uint64_t tenant : {uint64_t{0}, uint64_t{2}, ~uint64_t{0}}) {
    EXPECT_TRUE(salts.insert(TenantSalt(tenant)).second);
    EXPECT_EQ(TenantSalt(tenant) & kNamed, 0);
  }
  for (const char* name : {"a", "b", "0"}) {
    const auto salt = SaltOf(name);
    ASSERT_TRUE(salt.ok()) << salt.status();
    EXPECT_TRUE(salts.insert(*salt).second);
    EXPECT_NE(*salt & kNamed, 0);
    EXPECT_EQ(SaltOf(name).value_or(0), *salt);
  }
  EXPECT_EQ(SaltOf("").value_or(1), 0);
}

TEST(CacheSaltTest, ANameHasALimit) {
  EXPECT_TRUE(SaltOf(std::string(256, 'a')).ok());
  EXPECT_EQ(SaltOf(std::string(257, 'a')).status(),
            absl::InvalidArgumentError(
                "params.cache_salt has 257 bytes, limit is 256"));
}

}  // namespace
}  // namespace attend
