#include "client/cpp/lib/client_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr const char* kVariables[] = {
    "ATTEND_ADDRESS", "ATTEND_TOKEN", "ATTEND_TLS",        "ATTEND_CA",
    "ATTEND_CERT",    "ATTEND_KEY",   "ATTEND_SERVER_NAME"};

absl::StatusOr<ClientOptions> With(
    const std::map<std::string, std::string>& environment) {
  for (const char* name : kVariables) unsetenv(name);
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  absl::StatusOr<ClientOptions> options = OptionsFromEnvironment();
  for (const char* name : kVariables) unsetenv(name);
  return options;
}

TEST(OptionsFromEnvironmentTest, ReadsWhatIsThere) {
  const auto none = With({});
  EXPECT_EQ(none->address, "localhost:50051");
  EXPECT_EQ(none->token, "");
  EXPECT_FALSE(none->tls.has_value());

  const auto all = With({{"ATTEND_ADDRESS", "a:1,b:2"},
                         {"ATTEND_TOKEN", "t"},
                         {"ATTEND_SERVER_NAME", "c"}});
  EXPECT_EQ(all->address, "a:1,b:2");
  EXPECT_EQ(all->token, "t");
  EXPECT_EQ(all->tls->server_name, "c");
}

TEST(OptionsFromEnvironmentTest, TlsIsYesOrNo) {
  for (const char* yes : {"1", "true", "On", "YES"}) {
    EXPECT_TRUE(With({{"ATTEND_TLS", yes}})->tls.has_value()) << yes;
  }
  for (const char* no : {"0", "False", "off", "no", ""}) {
    EXPECT_FALSE(With({{"ATTEND_TLS", no}})->tls.has_value()) << no;
  }
}

TEST(OptionsFromEnvironmentTest, SaysWhatIsWrong) {
  const auto error = [](const std::string& name, const std::string& value) {
    return std::string(With({{name, value}}).status().message());
  };
  EXPECT_THAT(error("ATTEND_TLS", "maybe"),
              HasSubstr("ATTEND_TLS is 'maybe', must be true or false"));
  EXPECT_THAT(error("ATTEND_TOKEN", "a b"), HasSubstr("printable ASCII"));
  EXPECT_THAT(error("ATTEND_CA", "nowhere.crt"), HasSubstr("nowhere.crt"));
  EXPECT_THAT(error("ATTEND_CERT", "c"), HasSubstr("given together"));
}

}  // namespace
}  // namespace attend
