#include "engine/json/shell_word.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(ShellWordTest, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(ShellWord("/models/en-de_1.0"), "/models/en-de_1.0");
  EXPECT_EQ(ShellWord("my model"), "'my model'");
  EXPECT_EQ(ShellWord("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(ShellWord("~/m"), "'~/m'");
  EXPECT_EQ(ShellWord("m\xc3\xbc"), "'m\xc3\xbc'");
  EXPECT_EQ(ShellWord(""), "''");
}

}  // namespace
}  // namespace attend
