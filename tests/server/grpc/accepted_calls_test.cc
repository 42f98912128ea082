#include "server/grpc/accepted_calls.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(AcceptedCallsTest, AConnectionHasSoMany) {
  AcceptedCalls calls;
  calls.set_max_open(2);
  const int one = 0, other = 0;
  for (int i = 0; i < 2 + kMaxResetCalls; ++i) EXPECT_TRUE(calls.Add(&one));
  EXPECT_FALSE(calls.Add(&one));
  EXPECT_TRUE(calls.Add(&other));
  // What was refused is not counted.
  calls.Remove(&one);
  EXPECT_TRUE(calls.Add(&one));
  EXPECT_FALSE(calls.Add(&one));
}

TEST(AcceptedCallsTest, CallsOfClientsDoNotMatter) {
  AcceptedCalls calls;
  calls.set_max_open(1 - kMaxResetCalls);
  const int one = 0;
  calls.Remove(&one);
  EXPECT_TRUE(calls.Add(&one));
  EXPECT_FALSE(calls.Add(&one));
}

}  // namespace
}  // namespace attend
