#include "server/app/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "absl/time/time.h"

namespace attend {
namespace {

TEST(SignalsTest, ATearDownThatHangsEndsWithStatus0) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Signals signals;
        signals.EndWithin(absl::Seconds(1));
        for (;;) pause();
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace attend
