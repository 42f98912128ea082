// Profiles of `attend`: who is called, and how, from a file.

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "tests/client/cli/command_line.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class ProfileTest : public CommandLineTest {
 protected:
  void Write(const std::string& text) {
    std::filesystem::create_directories(directory_ / "attend");
    File("attend/profiles.toml", text);
  }
  // `attend generate` without the variable of the address.
  Outcome Generate(const std::string& options) {
    return RunAt("", "generate " + options, "a\n");
  }
  std::string Address() { return "address = \"" + service_.address() + "\"\n"; }
};

TEST_F(ProfileTest, SaysWhatNobodyElseSays) {
  Write("# Servers\n[default]\naddress = \"localhost:1\"\n[near]\n" +
        Address() + "model = \"small\"\ntimeout = \"30s\"\n");
  const Outcome outcome = Generate("--profile near");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(service_.last_generate().model(), "small");
  EXPECT_EQ(Generate("--profile near -m large").exit_code, 0);
  EXPECT_EQ(service_.last_generate().model(), "large");
  // The variable of the address goes first, too.
  EXPECT_EQ(RunAt("localhost:1", "generate --profile near --timeout 1ms", "a\n")
                .exit_code,
            1);
}

TEST_F(ProfileTest, TheDefaultNeedNotBeNamed) {
  Write("[default]\n" + Address());
  EXPECT_EQ(Generate("").exit_code, 0);
  Write("[other]\naddress = \"localhost:1\"\nwrong = 1\n");
  const Outcome outcome = Run("generate", "a\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(ProfileTest, FlagsAndFilesOfTls) {
  Write("[near]\ntls = true\n" + Address());
  EXPECT_EQ(Generate("--profile near --timeout 100ms").exit_code, 1);
  Write("[near]\nca = \"/no/such/file\"\n");
  const Outcome outcome = Generate("--profile near");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/no/such/file"));
}

TEST_F(ProfileTest, ErrorsSayWhere) {
  EXPECT_THAT(Generate("--profile near").err,
              HasSubstr("profile 'near': cannot open '"));
  Write("[near]\n" + Address());
  EXPECT_THAT(
      Generate("--profile nera").err,
      HasSubstr("profiles.toml: no profile 'nera'; did you mean near?"));
  Write("[near]\nadress = \"a\"\n");
  EXPECT_THAT(Generate("--profile near").err,
              HasSubstr("profiles.toml: [near] adress: unknown; did you mean "
                        "address?"));
  Write("[near]\naddress = [\"a\", \"b\"]\n");
  EXPECT_THAT(Generate("--profile near").err,
              HasSubstr("[near] address: must have one value"));
  Write("adress = \"a\"\n");
  EXPECT_THAT(Generate("").err, HasSubstr("[default] adress: unknown"));
  Write("[near]\n= =\n[");
  EXPECT_EQ(Generate("--profile near").exit_code, 2);
  Write("[near]\ntimeout = \"soon\"\n");
  const Outcome outcome = Generate("--profile near");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("soon is not a time"));
}

TEST_F(ProfileTest, AddressesMayBeSeveral) {
  const FakeService other;
  const std::string both = service_.address() + ", " + other.address();
  Write("[default]\naddress = \"" + both + "\"\n");
  const Outcome outcome = Generate("a b c d");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(service_.calls() + other.calls(), 4);

  Write("[default]\naddress = \"" + both + ",nowhere\"\n");
  const Outcome wrong = Generate("");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("address 'nowhere' must be HOST:PORT"));
}

}  // namespace
}  // namespace attend
