#include "server/tenants/version_name.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(VersionNameTest, AVersionIsBehindTheLastSign) {
  EXPECT_EQ(ParseVersionName("m@2")->model, "m");
  EXPECT_EQ(ParseVersionName("m@2")->version, 2);
  EXPECT_EQ(ParseVersionName("org/a@b@10")->model, "org/a@b");
  EXPECT_EQ(ParseVersionName("org/a@b@10")->version, 10);
}

TEST(VersionNameTest, OtherNamesHaveNone) {
  for (const char* name : {"", "m", "@2", "m@", "m@0", "m@-1", "m@02", "m@2x",
                           "m@v2", "m2", "m@99999999999999999999"}) {
    EXPECT_FALSE(ParseVersionName(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace attend
