// `attend profile`: a trace of the server, as a file.

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "tests/client/cli/command_line.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class ProfileCommandTest : public CommandLineTest {
 protected:
  // The trace in a file, or what is there instead.
  std::string Trace(const std::string& file) {
    EXPECT_FALSE(std::filesystem::exists(directory_ / (file + ".part")));
    const bool there = std::filesystem::exists(directory_ / file);
    return there ? ReadAll(directory_ / file) : "(none)";
  }
};

TEST_F(ProfileCommandTest, WritesAFile) {
  const Outcome outcome = Run("profile");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "attend-profile.json\n");
  EXPECT_EQ(Trace("attend-profile.json"), "{\"seconds\": 5}");
  EXPECT_EQ(Run("profile --duration 7s --output other").exit_code, 0);
  EXPECT_EQ(Trace("other"), "{\"seconds\": 7}");
}

TEST_F(ProfileCommandTest, AFileIsThereOnceItIsWhole) {
  File("trace", "older");
  const Outcome broken = Run("profile --duration 13s --output trace");
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_EQ(broken.err, "attend: UNAVAILABLE: broken off\n");
  EXPECT_EQ(Trace("trace"), "older");
  service_.Fail({{.status = absl::FailedPreconditionError("another")}});
  EXPECT_EQ(Run("profile -o trace").err,
            "attend: FAILED_PRECONDITION: another\n");
  EXPECT_EQ(Trace("trace"), "older");
}

TEST_F(ProfileCommandTest, WithoutATraceThereIsNoNewFile) {
  EXPECT_EQ(Run("profile --duration 13s --output new").exit_code, 1);
  EXPECT_EQ(Trace("new"), "(none)");
  File("empty", "");
  EXPECT_EQ(Run("profile --duration 13s --output empty").exit_code, 1);
  EXPECT_EQ(Trace("empty"), "");
}

TEST_F(ProfileCommandTest, WhatIsNoFileIsNotReplaced) {
  EXPECT_EQ(Run("profile --output /dev/stdout").out, "{\"seconds\": 5}");
  EXPECT_TRUE(std::filesystem::is_symlink("/dev/stdout"));
}

TEST_F(ProfileCommandTest, AFileThatCannotBeWrittenMakesNoCall) {
  const Outcome outcome = Run("profile --output none/trace");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("none/trace: cannot write: No such file"));
  EXPECT_EQ(service_.calls(), 0);
  const Outcome directory = Run("profile --output .");
  EXPECT_EQ(directory.exit_code, 1);
  EXPECT_EQ(directory.out, "");
}

TEST_F(ProfileCommandTest, ADurationIsATime) {
  for (const char* duration : {"0s", "-1s", "soon"}) {
    EXPECT_EQ(Run(absl::StrCat("profile --duration=", duration)).exit_code, 2);
  }
  EXPECT_EQ(service_.calls(), 0);
}

}  // namespace
}  // namespace attend
