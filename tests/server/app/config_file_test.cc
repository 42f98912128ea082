#include "server/app/config_file.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <vector>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string& File() {
  static const auto& file =
      *new std::string(::testing::TempDir() + "attend_config_file_test.toml");
  return file;
}

absl::StatusOr<std::vector<ConfigEntry>> Read(const std::string& text) {
  std::ofstream(File(), std::ios::binary) << text;
  return ReadConfigFile(File());
}

// "name: value, value" for each entry.
std::vector<std::string> Entries(const std::string& text) {
  const auto entries = Read(text);
  if (!entries.ok()) return {std::string(entries.status().message())};
  std::vector<std::string> result;
  for (const ConfigEntry& entry : *entries) {
    result.push_back(entry.name + ":");
    for (const std::string& value : entry.values) {
      result.back() += " <" + value + ">";
    }
  }
  return result;
}

TEST(ConfigFileTest, ReadsNamesAndValues) {
  EXPECT_THAT(Entries(""), ElementsAre());
  EXPECT_THAT(Entries("# nothing\n\n"), ElementsAre());
  EXPECT_THAT(Entries("port = 1\r\nhost = \"a b\"  # us\nkey='c,d=e'\n"),
              ElementsAre("port: <1>", "host: <a b>", "key: <c,d=e>"));
  EXPECT_THAT(Entries("list = [\"a\", 'b c',\n  \"d=/e\"\n]\nnext = -1"),
              ElementsAre("list: <a> <b c> <d=/e>", "next: <-1>"));
}

TEST(ConfigFileTest, RefusesWhatIsNoFlatText) {
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {"[server]\nport = 1\n", "has the section [server]"},
      {"[[a]]\n", "has the section [a]"},
      {"port = 1\nport = 1\nhost = a\nport = 2", "has 'port' twice"},
      {"host = \"a", "has a quote that does not end"},
      {"list = [\"a\", \"b\"", "has a list that does not end"},
      {"host = \"a#b\"", "has '#' or"},
      {"host = 'a\\'", "in quotes"},
      {"list = [\"a\", # first\n\"b\"]", "has a comment in a list"},
      {std::string("port\0 = 1", 9), "is not plain text"},
      {"\x7f"
       "ELF\x02",
       "is not plain text"},
      {std::string(65537, 'x'), "is longer than 65536 bytes"},
  };
  for (const auto& c : cases) {
    const auto entries = Read(c.text);
    ASSERT_FALSE(entries.ok()) << c.message;
    EXPECT_EQ(entries.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(entries.status().message()),
                StartsWith(File() + ": "));
    EXPECT_THAT(std::string(entries.status().message()), HasSubstr(c.message));
  }
}

// As long and as nested as a file may be: an answer, soon and in little memory.
TEST(ConfigFileTest, NestingCostsNothing) {
  const auto repeated = [](const std::string& text) {
    std::string all;
    while (all.size() + text.size() < 65000) all += text;
    return all;
  };
  EXPECT_THAT(Entries("[" + repeated("a.") + "a]"),
              ElementsAre(HasSubstr("has the section [a.a.")));
  EXPECT_THAT(Entries(repeated("[[")),
              ElementsAre(HasSubstr("has a list that does not end")));
  EXPECT_THAT(Entries(repeated("a.") + "a = 1"),
              ElementsAre(StartsWith("a.a.")));
  EXPECT_GT(Read("list = [" + repeated("a,") + "b]")->front().values.size(),
            32000);
  for (const char* junk : {"=", "[]", "a=[", "\"", "\\", "a=\"\\", "]\n"}) {
    (void)Read(repeated(junk));  // whatever it says
  }
}

TEST(ConfigFileTest, ReadsRegularFilesOnly) {
  EXPECT_THAT(ReadConfigFile("/no/such.toml").status().message(),
              HasSubstr("/no/such.toml: there is no such file"));
  EXPECT_THAT(ReadConfigFile(::testing::TempDir()).status().message(),
              HasSubstr("is not a regular file"));
  EXPECT_THAT(ReadConfigFile("/dev/zero").status().message(),
              HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace attend
