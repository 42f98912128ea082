#include "server/grpc/header_frames.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(HeaderFramesTest, ABlockHasFewFrames) {
  HeaderFrames frames;
  const int one = 0, other = 0;
  for (int i = 0; i < kMaxBlockFrames; ++i) {
    EXPECT_EQ(frames.OnFrame(&one, /*ends_block=*/false, /*acknowledged=*/true),
              i == 0 ? kMaxHeaderBytes : kMaxContinuedBytes);
    EXPECT_EQ(
        frames.OnFrame(&other, /*ends_block=*/true, /*acknowledged=*/true),
        kMaxHeaderBytes);
  }
  EXPECT_FALSE(frames.IsOverLimit(&one));
  frames.OnFrame(&one, /*ends_block=*/true, /*acknowledged=*/true);
  EXPECT_TRUE(frames.IsOverLimit(&one));
  EXPECT_FALSE(frames.IsOverLimit(&other));
  frames.Forget(&one);
  EXPECT_FALSE(frames.IsOverLimit(&one));
}

TEST(HeaderFramesTest, FewFramesComeBeforeTheSettingsAreAcknowledged) {
  HeaderFrames frames;
  const int one = 0;
  for (int i = 0; i < kMaxUnacknowledgedFrames; ++i) {
    frames.OnFrame(&one, /*ends_block=*/true, /*acknowledged=*/false);
  }
  EXPECT_FALSE(frames.IsOverLimit(&one));
  frames.OnFrame(&one, /*ends_block=*/true, /*acknowledged=*/false);
  EXPECT_TRUE(frames.IsOverLimit(&one));
}

}  // namespace
}  // namespace attend
