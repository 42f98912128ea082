// Standard output that takes nothing: exit code 1 and why, never less than all
// of the results with exit code 0.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/client/cli/command_line.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class FullDiskTest : public CommandLineTest {
 protected:
  void ExpectTold(const std::string& arguments, const std::string& input = "") {
    EXPECT_EQ(Run(arguments, input).exit_code, 0) << arguments;
    const Outcome outcome = Run(arguments + " >/dev/full", input);
    EXPECT_EQ(outcome.exit_code, 1) << arguments;
    EXPECT_THAT(outcome.err,
                HasSubstr("attend: cannot write to standard output: No space "
                          "left on device\n"))
        << arguments;
  }
};

TEST_F(FullDiskTest, EveryCommandTells) {
  File("lines", "one\ntwo\n");
  ExpectTold("generate --file lines");
  ExpectTold("generate one");
  ExpectTold("generate --stream one");
  ExpectTold("chat", "one\n");
  ExpectTold("models");
  ExpectTold("rerank query one two");
  ExpectTold("bench --requests 2 --warmup 0");
}

// What it took are the first results.
TEST_F(FullDiskTest, ADiskThatFillsMeanwhile) {
  std::string lines, expected;
  for (int i = 0; i < 200; ++i) {
    lines += "line " + std::to_string(i) + "\n";
    expected += "LINE " + std::to_string(i) + "\n";
  }
  File("lines", lines);
  const Outcome outcome =
      Run("models; trap '' XFSZ; ulimit -f 1; "
          "exec " ATTEND_BINARY " generate --file lines >full");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("File too large"));
  const std::string full = ReadAll(directory_ / "full");
  EXPECT_GT(full.size(), 100u);
  EXPECT_EQ(full, expected.substr(0, full.size()));
}

}  // namespace
}  // namespace attend
