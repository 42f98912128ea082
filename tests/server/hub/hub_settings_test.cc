#include "server/hub/hub_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Variables = std::map<std::string, std::string>;

absl::Status Read(const Variables& variables, HubSettings& settings) {
  return ReadHubVariables(
      [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      settings);
}

HubSettings ReadGood(const Variables& variables) {
  HubSettings settings;
  const absl::Status status = Read(variables, settings);
  EXPECT_TRUE(status.ok()) << status;
  return settings;
}

std::string Error(const Variables& variables) {
  HubSettings settings;
  const absl::Status status = Read(variables, settings);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(HubSettingsTest, TheCacheIsThatOfTheFirstVariableOfMany) {
  Variables all = {{"HOME", "/u"}};
  EXPECT_EQ(ReadGood(all).cache, "/u/.cache/huggingface/hub");
  all["XDG_CACHE_HOME"] = "/x";
  EXPECT_EQ(ReadGood(all).cache, "/x/huggingface/hub");
  all["HF_HOME"] = "~/h";
  EXPECT_EQ(ReadGood(all).cache, "/u/h/hub");
  all["HF_HUB_CACHE"] = "/c";
  EXPECT_EQ(ReadGood(all).cache, "/c");
  HubSettings given;
  given.cache = "/given";
  ASSERT_TRUE(Read(all, given).ok());
  EXPECT_EQ(given.cache, "/given");
  EXPECT_THAT(Error({}), HasSubstr("--hub-cache"));
}

TEST(HubSettingsTest, TheTokenIsThatOfTheVariableElseOfTheFile) {
  const std::filesystem::path home = testing::TempDir() + "hub_home";
  std::filesystem::create_directories(home);
  std::ofstream(home / "token") << "of-file\n";
  std::ofstream(home / "other") << " of-other ";
  Variables all = {{"HF_HOME", home.string()}};
  EXPECT_EQ(ReadGood(all).token, "of-file");
  all["HF_TOKEN_PATH"] = home / "other";
  EXPECT_EQ(ReadGood(all).token, "of-other");
  all["HF_TOKEN"] = "of-variable";
  EXPECT_EQ(ReadGood(all).token, "of-variable");
  all["HF_TOKEN"] = "of\r\nInjected: yes";
  EXPECT_THAT(Error(all), HasSubstr("HF_TOKEN"));
  EXPECT_THAT(Error(all), Not(HasSubstr("Injected")));
  std::filesystem::remove_all(home);
  EXPECT_EQ(ReadGood({{"HOME", "/none"}}).token, "");
}

TEST(HubSettingsTest, TheEndpointIsAUrl) {
  const auto with = [](const std::string& endpoint) {
    return Variables{{"HOME", "/u"}, {"HF_ENDPOINT", endpoint}};
  };
  EXPECT_EQ(ReadGood(with("")).endpoint, "https://huggingface.co");
  EXPECT_EQ(ReadGood(with("http://m:1/hub/")).endpoint, "http://m:1/hub");
  for (const char* wrong : {"m", "ftp://m", "http://m/?a", "http://m/#a",
                            "https://u:secret@m", "http://m /"}) {
    EXPECT_THAT(Error(with(wrong)), HasSubstr("HF_ENDPOINT")) << wrong;
    EXPECT_THAT(Error(with(wrong)), Not(HasSubstr("secret")));
  }
}

TEST(HubSettingsTest, OtherVariables) {
  const HubSettings plain = ReadGood({{"HOME", "/u"}});
  EXPECT_FALSE(plain.offline);
  EXPECT_EQ(plain.timeout, absl::Seconds(10));
  const HubSettings all = ReadGood({{"HOME", "/u"},
                                    {"HF_HUB_OFFLINE", "True"},
                                    {"HF_HUB_DOWNLOAD_TIMEOUT", "30"},
                                    {"SSL_CERT_FILE", "/ca.pem"},
                                    {"SSL_CERT_DIR", "/cas"}});
  EXPECT_TRUE(all.offline);
  EXPECT_EQ(all.timeout, absl::Seconds(30));
  EXPECT_EQ(all.ca_file, "/ca.pem");
  EXPECT_EQ(all.ca_directory, "/cas");
  EXPECT_FALSE(ReadGood({{"HOME", "/u"}, {"HF_HUB_OFFLINE", "0"}}).offline);
  for (const char* wrong : {"0", "-1", "3601", "1.5", "soon"}) {
    EXPECT_THAT(Error({{"HOME", "/u"}, {"HF_HUB_DOWNLOAD_TIMEOUT", wrong}}),
                HasSubstr("[1, 3600]"));
  }
}

}  // namespace
}  // namespace attend
