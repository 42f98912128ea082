// What the command line shows on a terminal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "tests/client/cli/command_line.h"

namespace attend {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// A terminal; what is written to it is read as it comes, so that nobody waits.
class Terminal {
 public:
  Terminal() {
    char name[64] = {};
    EXPECT_EQ(openpty(&ours_, &theirs_, name, nullptr, nullptr), 0);
    name_ = name;
    reader_ = std::thread([this] {
      char buffer[4096];
      ssize_t count;
      while ((count = read(ours_, buffer, sizeof(buffer))) > 0) {
        text_.append(buffer, count);
      }
    });
  }
  ~Terminal() { Close(); }

  const std::string& name() const { return name_; }
  // All that was shown.
  const std::string& Close() {
    if (reader_.joinable()) {
      close(theirs_);  // the last of its writers: the reader comes to an end
      reader_.join();
      close(ours_);
    }
    return text_;
  }

 private:
  int ours_ = -1;
  int theirs_ = -1;
  std::string name_;
  std::string text_;
  std::thread reader_;
};

class TerminalTest : public CommandLineTest {
 protected:
  // Runs `attend ARGUMENTS` with its standard error on a terminal; what that
  // shows is `err`.
  Outcome RunOnTerminal(const std::string& arguments) {
    Terminal terminal;
    Outcome outcome = Run(arguments + " 2>" + terminal.name());
    outcome.err = terminal.Close();
    return outcome;
  }

  std::string Lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "word\n";
    return File("text", text);
  }
};

TEST_F(TerminalTest, ProgressOfAFile) {
  Lines(100);
  const Outcome outcome = RunOnTerminal("embed --file text");
  EXPECT_EQ(outcome.exit_code, 0);
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += "4.5\n";
  EXPECT_EQ(outcome.out, expected);  // the bar is not among the results
  EXPECT_THAT(outcome.err, HasSubstr("] 1/100 1% "));
  EXPECT_THAT(outcome.err, HasSubstr("===============>"));
  EXPECT_THAT(outcome.err, HasSubstr("[==============================] 100/100 "
                                     "100% "));
  // It is one line, which is empty in the end.
  EXPECT_THAT(outcome.err, Not(HasSubstr("\n")));
  EXPECT_THAT(outcome.err, EndsWith("/s\r\033[K"));
}

TEST_F(TerminalTest, MessagesHaveLinesOfTheirOwn) {
  File("text", "a\nbad\nbcd\n");
  const Outcome outcome = RunOnTerminal("embed --file text");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "1.5\n\n3.5\n");
  EXPECT_THAT(outcome.err,
              HasSubstr("\r\033[Kattend: line 2: INVALID_ARGUMENT: text is "
                        "bad\r\n\r\033[K["));
  EXPECT_THAT(outcome.err, HasSubstr("] 3/3 100% "));
}

TEST_F(TerminalTest, EveryCommandOfFilesShowsIt) {
  Lines(3);
  for (const char* command :
       {"translate", "classify", "fill-mask", "tokenize", "rerank query"}) {
    const Outcome outcome =
        RunOnTerminal(std::string(command) + " --file text");
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_THAT(outcome.err, HasSubstr("] 3/3 100% ")) << command;
  }
}

TEST_F(TerminalTest, ProgressOfABench) {
  const Outcome outcome = RunOnTerminal("bench --requests 50 --warmup 3");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("50 ok"));
  EXPECT_THAT(outcome.err, HasSubstr("] 1/50 2% "));
  EXPECT_THAT(outcome.err, HasSubstr("] 50/50 100% "));
  EXPECT_THAT(outcome.err, EndsWith("/s\r\033[K"));
}

TEST_F(TerminalTest, ArgumentsAndStandardInputShowNone) {
  EXPECT_EQ(RunOnTerminal("embed a bc").err, "");
  EXPECT_EQ(RunOnTerminal("embed").err, "");  // nothing on standard input
}

}  // namespace
}  // namespace attend
