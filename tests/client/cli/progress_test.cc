#include "client/cpp/cli/progress.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(ProgressTest, Text) {
  const absl::Duration elapsed = absl::Seconds(4);
  EXPECT_EQ(ProgressText(0, 100, elapsed, 10), "[>         ] 0/100 0% 0.0/s");
  EXPECT_EQ(ProgressText(50, 100, elapsed, 10),
            "[=====>    ] 50/100 50% 12.5/s");
  EXPECT_EQ(ProgressText(100, 100, elapsed, 10),
            "[==========] 100/100 100% 25.0/s");
}

TEST(ProgressTest, FileThatGrewOrWasEmpty) {
  EXPECT_EQ(ProgressText(3, 2, absl::Seconds(1), 4), "[====] 3/3 100% 3.0/s");
  EXPECT_EQ(ProgressText(0, 0, absl::ZeroDuration(), 4), "[>   ] 0/1 0% 0.0/s");
}

}  // namespace
}  // namespace attend
