#include "server/grpc/header_frames.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/match.h"
#include "tests/server/grpc/raw_connection.h"

namespace attend {
namespace {

constexpr HeaderFrames::Frame kWhole = {.ends_block = true,
                                        .acknowledged = true};

TEST(HeaderFramesTest, FewBlocksComeBeforeTheSettingsAreAcknowledged) {
  HeaderFrames frames;
  const int one = 0, other = 0;
  for (int i = 0; i < kMaxUnacknowledgedBlocks; ++i) {
    for (const bool ends : {false, false, true}) {
      frames.OnFrame(&one, {.ends_block = ends}, nullptr);
      EXPECT_TRUE(frames.OnBytes(&one, "", true).connection.ok());
    }
  }
  frames.OnFrame(&one, {.ends_block = true}, nullptr);
  EXPECT_FALSE(frames.OnBytes(&one, "", true).connection.ok());
  frames.OnFrame(&other, kWhole, nullptr);
  EXPECT_TRUE(frames.OnBytes(&other, "", true).connection.ok());
}

TEST(HeaderFramesTest, ACallHasItsNumberAmongItsHeaders) {
  HeaderFrames frames;
  const int one = 0;
  EXPECT_FALSE(frames.Knows(&one));
  frames.OnFrame(&one, {.acknowledged = true},
                 std::make_shared<IncomingCall>(1234, 1));
  EXPECT_TRUE(frames.Knows(&one));
  EXPECT_FALSE(frames.OnBytes(&one, Header("a", "b"), true).fields);
  frames.OnFrame(&one, kWhole, nullptr);
  EXPECT_TRUE(
      absl::StrContains(frames.OnBytes(&one, "", true).fields.value(), "1234"));
  // Headers that end the call have none.
  frames.OnFrame(&one, kWhole, nullptr);
  EXPECT_EQ(frames.OnBytes(&one, "", true).fields, "");
  frames.Forget(&one);
  EXPECT_FALSE(frames.Knows(&one));
}

TEST(HeaderFramesTest, AConnectionMayBeRefused) {
  HeaderFrames frames;
  const int one = 0;
  frames.OnFrame(&one, kWhole, nullptr);
  frames.Refuse(&one);
  EXPECT_FALSE(frames.OnBytes(&one, "", true).connection.ok());
}

}  // namespace
}  // namespace attend
