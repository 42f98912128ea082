#include "tests/bench/engine/op_seconds.h"

#include <gmock/gmock.h>

#include <thread>

namespace attend {
namespace {

using ::testing::DoubleNear;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr int64_t kSecond = 1'000'000'000;

// Ops are told of when they end, so inner ones come first.
TEST(OpSecondsTest, AnOpHasItsTimeWithoutThatOfOpsInsideOfIt) {
  OpSeconds ops;
  ops.OnOp({.name = "matmul", .begin = 1 * kSecond, .end = 4 * kSecond});
  ops.OnOp({.name = "epilogue", .begin = 5 * kSecond, .end = 6 * kSecond});
  ops.OnOp({.name = "matmul", .begin = 4 * kSecond, .end = 8 * kSecond});
  ops.OnOp({.name = "step", .begin = 0, .end = 10 * kSecond});
  EXPECT_THAT(ops.seconds(),
              UnorderedElementsAre(Pair("matmul", DoubleNear(6, 1e-9)),
                                   Pair("epilogue", DoubleNear(1, 1e-9)),
                                   Pair("step", DoubleNear(3, 1e-9))));
}

TEST(OpSecondsTest, StepsThatFollowEachOtherAdd) {
  OpSeconds ops;
  ops.OnOp({.name = "step", .begin = 0, .end = 2 * kSecond});
  ops.OnOp({.name = "step", .begin = 2 * kSecond, .end = 5 * kSecond});
  EXPECT_THAT(ops.seconds(),
              UnorderedElementsAre(Pair("step", DoubleNear(5, 1e-9))));
}

TEST(OpSecondsTest, DropsOpsOfOtherThreads) {
  OpSeconds ops;
  std::thread([&] {
    ops.OnOp({.name = "matmul", .begin = 0, .end = kSecond});
  }).join();
  EXPECT_TRUE(ops.seconds().empty());
}

TEST(OpSecondsTest, WatchesWhileItLives) {
  {
    OpSeconds ops;
    EXPECT_EQ(WatchOfOps(), &ops);
  }
  EXPECT_EQ(WatchOfOps(), nullptr);
}

}  // namespace
}  // namespace attend
