#include "server/grpc/grpc_weaknesses.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(GrpcWeaknessesTest, VersionsBeforeTheMends) {
  for (const char* old : {"1.51.1", "1.53.1", "1.54.2", "1.55.2", "1.56.1",
                          "1.56.0-dev", "0.9.9", "nonsense"}) {
    EXPECT_TRUE(HasKnownWeaknesses(old)) << old;
  }
  for (const char* mended : {"1.53.2", "1.54.3", "1.55.3", "1.56.2", "1.57.0",
                             "1.60.0-dev", "2.0.0"}) {
    EXPECT_FALSE(HasKnownWeaknesses(mended)) << mended;
  }
}

}  // namespace
}  // namespace attend
