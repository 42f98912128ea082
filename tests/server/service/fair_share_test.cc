#include "server/service/fair_share.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

TEST(FairShareTest, NamesAreReadBack) {
  for (const FairShare value : {FairShare::kAddress, FairShare::kNone}) {
    const auto read = ParseFairShare(FairShareName(value));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, value);
  }
  EXPECT_THAT(ParseFairShare("key\n").status().message(),
              HasSubstr("'key\\n' is not address or none"));
}

TEST(FairShareTest, AHostIsATenant) {
  const Tenant a = TenantOf(FairShare::kAddress, "ipv4:10.0.0.1");
  EXPECT_EQ(a.id, TenantOf(FairShare::kAddress, "ipv4:10.0.0.1").id);
  EXPECT_NE(a.id, TenantOf(FairShare::kAddress, "ipv4:10.0.0.2").id);
  EXPECT_EQ(a.weight, 1);
}

TEST(FairShareTest, OrAllAreOne) {
  EXPECT_EQ(TenantOf(FairShare::kNone, "ipv4:10.0.0.1").id,
            TenantOf(FairShare::kNone, "ipv4:10.0.0.2").id);
}

TEST(FairShareTest, AddressOfIsForPeople) {
  EXPECT_EQ(AddressOf("ipv4:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(AddressOf("ipv6:[::1]"), "::1");
  EXPECT_EQ(AddressOf("ipv6:%5B2001:db8::1%5D"), "2001:db8::1");
  EXPECT_EQ(AddressOf("unix"), "unix");
  EXPECT_EQ(AddressOf(""), "");
}

}  // namespace
}  // namespace attend
