// Output that goes on where an earlier run was ended.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/client/cli/command_line.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class OutputFileTest : public CommandLineTest {
 protected:
  static constexpr char kCommand[] =
      "translate --file text --output results --in-flight 1";

  OutputFileTest() { File("text", "a\nbad b\nc\nbad d\ne\n"); }

  // Translates the first two lines; then there is no server any more.
  void EndInTheMiddle() {
    FakeFailure none;
    service_.Fail({none, none, {.status = absl::NotFoundError("gone")}});
    const Outcome outcome = Run(kCommand);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("line 3: NOT_FOUND: gone"));
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(service_.calls(), 3);
  }
  bool Exists(const char* name) {
    return std::filesystem::exists(directory_ / name);
  }
  std::string Results() { return ReadAll(directory_ / "results"); }
};

TEST_F(OutputFileTest, HasAllResults) {
  File("results", "of something else\nand more of it\n");
  EXPECT_EQ(Run(kCommand).exit_code, 1);
  EXPECT_EQ(Results(), "A\n\nC\n\nE\n");
  EXPECT_FALSE(Exists("results.progress"));
}

TEST_F(OutputFileTest, GoesOnWhereItWasEnded) {
  EndInTheMiddle();
  EXPECT_TRUE(Exists("results.progress"));
  // As if killed while the next result was written.
  std::ofstream(directory_ / "results", std::ios::app) << "half a li";
  const Outcome rest = Run(std::string(kCommand) + " --resume");
  EXPECT_EQ(rest.exit_code, 1);
  EXPECT_EQ(rest.err, "attend: line 4: INVALID_ARGUMENT: text is bad\n");
  EXPECT_EQ(Results(), "A\n\nC\n\nE\n");
  EXPECT_EQ(service_.calls(), 3 + 3);
  EXPECT_FALSE(Exists("results.progress"));
}

TEST_F(OutputFileTest, BeginsAnewWithoutResume) {
  EndInTheMiddle();
  EXPECT_EQ(Run(kCommand).exit_code, 1);
  EXPECT_EQ(Results(), "A\n\nC\n\nE\n");
  EXPECT_EQ(service_.calls(), 3 + 5);
}

TEST_F(OutputFileTest, NothingToResumeBeginsAnew) {
  EXPECT_EQ(Run(std::string(kCommand) + " --resume").exit_code, 1);
  EXPECT_EQ(Results(), "A\n\nC\n\nE\n");
}

// Else results would stand in other lines than their inputs.
TEST_F(OutputFileTest, OfOtherInputsIsAnError) {
  EndInTheMiddle();
  for (const char* inputs : {"b\nbad b\nc\n", "new\na\nbad b\n", "abad b\n",
                             "a\n", "", "bad b\na\n"}) {
    File("text", inputs);
    const Outcome outcome = Run(std::string(kCommand) + " --resume");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err,
                HasSubstr("results.progress: inputs 1 to 2 have changed"))
        << inputs;
    EXPECT_EQ(Results(), "A\n\n");
  }
  // What comes after them may change.
  File("text", "a\nbad b\nnew\n");
  EXPECT_EQ(Run(std::string(kCommand) + " --resume").err, "");
  EXPECT_EQ(Results(), "A\n\nNEW\n");
}

TEST_F(OutputFileTest, AnEmptyLineIsAnInput) {
  File("text", "a\n\nc\n");
  EndInTheMiddle();
  File("text", "a\n");
  EXPECT_THAT(Run(std::string(kCommand) + " --resume").err,
              HasSubstr("have changed since"));
}

TEST_F(OutputFileTest, OfAnotherOutputIsAnError) {
  EndInTheMiddle();
  const std::string progress = ReadAll(directory_ / "results.progress");
  for (const auto& [results, of] :
       {std::pair<std::string, std::string>{"A", progress},
        {"A\n\n", "2 3"},
        {"A\n\n", progress + "x"},
        {"A\n\n", std::string(progress.size(), '9')}}) {
    File("results", results);
    File("results.progress", of);
    const Outcome outcome = Run(std::string(kCommand) + " --resume");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("results.progress: does not belong to"));
    EXPECT_EQ(Results(), results);
  }
}

TEST_F(OutputFileTest, IsNotTheFileOfTheInputs) {
  const std::string inputs = ReadAll(directory_ / "text");
  File("o.progress", inputs);
  std::filesystem::create_symlink("text", directory_ / "symbolic");
  std::filesystem::create_hard_link(directory_ / "text", directory_ / "hard");
  const struct {
    const char* arguments;
    const char* file;
  } cases[] = {
      {"translate --file text --output text", "text"},
      {"translate --file text --output ./text --resume", "./text"},
      {"embed --file text --output symbolic", "symbolic"},
      {"tokenize --file symbolic --output hard", "hard"},
      {"score --output text <text", "text"},
      {"translate --file o.progress --output o", "o.progress"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = Run(c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_EQ(outcome.err,
              absl::StrCat("attend: --output: ", c.file,
                           " has the inputs, which would be lost\n"));
    EXPECT_EQ(ReadAll(directory_ / "text"), inputs) << c.arguments;
    EXPECT_EQ(ReadAll(directory_ / "o.progress"), inputs) << c.arguments;
    EXPECT_FALSE(Exists("text.progress")) << c.arguments;
  }
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(OutputFileTest, WhereNothingCanBeWritten) {
  const Outcome outcome = Run("translate --output no/such/place x");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no/such/place.progress: cannot write"));
  EXPECT_EQ(Run("translate --file text --resume").exit_code, 2);
  std::filesystem::create_directory(directory_ / "folder");
  EXPECT_THAT(Run("translate --output folder x").err,
              HasSubstr("folder: is no regular file"));
  EXPECT_FALSE(Exists("folder.progress"));
}

}  // namespace
}  // namespace attend
