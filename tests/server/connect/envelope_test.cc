#include "server/connect/envelope.h"

#include <gmock/gmock.h>

#include <string>

namespace attend {
namespace {

using ::testing::HasSubstr;

TEST(EnvelopeTest, HasFlagsLengthAndPayload) {
  std::string text = "before";
  AppendEnvelope(kEndOfStreamFlags, std::string(258, 'x'), text);
  EXPECT_EQ(text, "before" + std::string("\x02\0\0\x01\x02", 5) +
                      std::string(258, 'x'));
}

TEST(EnvelopeTest, OpensWhatItMakes) {
  for (const std::string payload : {"", "{}", "\xff\0"}) {
    std::string text;
    AppendEnvelope(kMessageFlags, payload, text);
    const auto opened = OpenEnvelope(text);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(*opened, payload);
  }
}

TEST(EnvelopeTest, RefusesAllElse) {
  const struct {
    std::string body, problem;
  } cases[] = {
      {"", "the body has 0 bytes"},
      {std::string(4, '\0'), "the body has 4 bytes"},
      {std::string("\0\0\0\0\x03{}", 7), "says 3 bytes, but 2 follow"},
      {std::string("\0\0\0\0\x01{}", 7), "says 1 bytes, but 2 follow"},
      {std::string("\0\xff\xff\xff\xff{}", 7), "says 4294967295 bytes"},
      {std::string("\x01\0\0\0\x02{}", 7), "has the flags 1, must be 0"},
      {std::string("\xff\0\0\0\x02{}", 7), "has the flags 255, must be 0"},
  };
  for (const auto& c : cases) {
    const auto opened = OpenEnvelope(c.body);
    EXPECT_TRUE(absl::IsInvalidArgument(opened.status())) << c.problem;
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr(c.problem));
  }
}

}  // namespace
}  // namespace attend
