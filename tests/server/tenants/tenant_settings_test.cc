#include "server/tenants/tenant_settings.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

// Of the key "abc".
constexpr char kHash[] =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

absl::StatusOr<std::vector<TenantSettings>> Parse(const std::string& text) {
  return ParseTenants("t.json", absl::StrReplaceAll(text, {{"HASH", kHash}}));
}
// Of a file that has one tenant, named "a", with these fields besides.
absl::StatusOr<std::vector<TenantSettings>> With(const std::string& fields) {
  return Parse(absl::StrCat(R"({"tenants": [{"name": "a", "keys": ["HASH"])",
                            fields.empty() ? "" : ", ", fields, "}]}"));
}
std::string Error(const std::string& text) {
  return std::string(Parse(text).status().message());
}

TEST(TenantSettingsTest, AllFields) {
  const auto tenants = With(R"("weight": 3, "calls_per_second": 0.5,
      "call_burst": 7, "tokens_per_second": 1000, "token_burst": 30000,
      "max_queued_inputs": 20, "max_running_inputs": 4,
      "models": ["m", "n"], "max_priority": -2)");
  ASSERT_TRUE(tenants.ok()) << tenants.status();
  ASSERT_EQ(tenants->size(), 1);
  const TenantSettings& tenant = tenants->front();
  EXPECT_EQ(tenant.name, "a");
  EXPECT_THAT(tenant.keys, ElementsAre(HashKey("abc")));
  EXPECT_EQ(tenant.weight, 3);
  EXPECT_EQ(tenant.calls->per_second, 0.5);
  EXPECT_EQ(tenant.calls->burst, 7);
  EXPECT_EQ(tenant.tokens->per_second, 1000);
  EXPECT_EQ(tenant.tokens->burst, 30000);
  EXPECT_EQ(tenant.max_queued_inputs, 20);
  EXPECT_EQ(tenant.max_running_inputs, 4);
  EXPECT_THAT(tenant.models, Optional(ElementsAre("m", "n")));
  EXPECT_EQ(tenant.max_priority, -2);
}

TEST(TenantSettingsTest, TheExampleOfTheManualIsGood) {
  std::ifstream file(ATTEND_SOURCE_DIR "/docs/security.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  const size_t begin = page.find("```json\n") + 8;
  const auto tenants =
      Parse(page.substr(begin, page.find("```", begin) - begin));
  ASSERT_TRUE(tenants.ok()) << tenants.status();
  EXPECT_EQ(tenants->size(), 2);
}

TEST(TenantSettingsTest, CertificatesMayTakeThePlaceOfKeys) {
  const auto tenants = Parse(R"({"tenants": [
      {"name": "a", "certificates": ["a.example", "spiffe://a/b"]},
      {"name": "b", "certificates": ["b"], "keys": ["HASH"]}]})");
  ASSERT_TRUE(tenants.ok()) << tenants.status();
  EXPECT_THAT((*tenants)[0].certificates,
              ElementsAre("a.example", "spiffe://a/b"));
  EXPECT_THAT((*tenants)[0].keys, ElementsAre());
  EXPECT_THAT((*tenants)[1].certificates, ElementsAre("b"));
  EXPECT_THAT((*tenants)[1].keys, ElementsAre(HashKey("abc")));
}

TEST(TenantSettingsTest, CertificatesThatCannotBeUsed) {
  EXPECT_THAT(Error(R"({"tenants": [{"name": "a"}]})"),
              HasSubstr("keys is not a list"));
  EXPECT_THAT(
      Error(
          R"({"tenants": [{"name": "a", "certificates": ["x"], "keys": []}]})"),
      HasSubstr("keys is not a list"));
  for (const char* wrong : {"[]", "[1]", "{}"}) {
    EXPECT_THAT(
        With(absl::StrCat("\"certificates\": ", wrong)).status().message(),
        HasSubstr("certificates"))
        << wrong;
  }
  for (const std::string& wrong :
       {std::string(), std::string("a\\nb"), std::string(3000, 'x')}) {
    EXPECT_THAT(
        With(absl::StrCat("\"certificates\": [\"", wrong, "\"]"))
            .status()
            .message(),
        HasSubstr("expected 1 to 2048 bytes without control characters"))
        << wrong;
  }
  EXPECT_EQ(Error(R"({"tenants": [{"name": "a", "certificates": ["x", "y"]},
                                  {"name": "b", "certificates": ["y"]}]})"),
            "t.json: certificates of tenant 'b' has 'y', which is of tenant "
            "'a' already");
}

TEST(TenantSettingsTest, WhatIsNotThereLimitsNothing) {
  const auto tenants = With("");
  ASSERT_TRUE(tenants.ok()) << tenants.status();
  const TenantSettings& tenant = tenants->front();
  EXPECT_EQ(tenant.weight, 1);
  EXPECT_FALSE(tenant.calls.has_value());
  EXPECT_FALSE(tenant.tokens.has_value());
  EXPECT_EQ(tenant.max_queued_inputs, Tenant::kNoLimit);
  EXPECT_EQ(tenant.max_running_inputs, Tenant::kNoLimit);
  EXPECT_FALSE(tenant.models.has_value());
  EXPECT_EQ(tenant.max_priority, kMaxPriority);
}

TEST(TenantSettingsTest, ABurstIsThatOfASecondAndAtLeastOne) {
  EXPECT_EQ(With(R"("calls_per_second": 8)")->front().calls->burst, 8);
  EXPECT_EQ(With(R"("calls_per_second": 0.01)")->front().calls->burst, 1);
}

struct BadField {
  const char* fields;
  const char* error;
};

TEST(TenantSettingsTest, ErrorsNameFileTenantFieldValueAndLimit) {
  const BadField cases[] = {
      {R"("weight": 0)", "weight is 0, expected an integer in [1, 1000]"},
      {R"("weight": 1001)", "weight is 1001"},
      {R"("weight": 1.5)", "weight is 1.5"},
      {R"("calls_per_second": 0)",
       "calls_per_second is 0, expected a number in [0.001, 1e+09]"},
      {R"("calls_per_second": -1)", "calls_per_second is -1"},
      {R"("calls_per_second": 1, "call_burst": 0.5)",
       "call_burst is 0.5, expected a number in [1, 1e+09]"},
      {R"("call_burst": 5)", "call_burst is there without calls_per_second"},
      {R"("tokens_per_second": "9")", "tokens_per_second is \"9\""},
      {R"("token_burst": 5)", "token_burst is there without tokens_per_second"},
      {R"("max_queued_inputs": 0)",
       "max_queued_inputs is 0, expected an integer in [1, 1000000]"},
      {R"("max_running_inputs": 0)", "max_running_inputs is 0"},
      {R"("models": [])", "models is [], expected 1 to 1000 names"},
      {R"("models": [1])", "models is [1]"},
      {R"("max_priority": 11)",
       "max_priority is 11, expected an integer in [-10, 10]"},
      {R"("requests_per_second": 1)", "unknown key 'requests_per_second'"},
      {R"("models": null)", "null for key 'models'"},
  };
  for (const auto& [fields, error] : cases) {
    EXPECT_THAT(With(fields).status().message(),
                AllOf(HasSubstr("t.json: tenants[0]: "), HasSubstr(error),
                      HasSubstr("(tenant 'a')")))
        << fields;
  }
}

TEST(TenantSettingsTest, NamesArePlainAndOfOneTenant) {
  for (const char* name : {"", "a b", "a\\\"", "\xc3\xa4",
                           "0123456789012345678901234567890123456789012345678"
                           "901234567890123456789"}) {
    EXPECT_THAT(
        Error(absl::StrCat(R"({"tenants": [{"keys": ["HASH"], "name": ")", name,
                           "\"}]}")),
        HasSubstr("name is \""))
        << name;
  }
  EXPECT_THAT(Error(R"({"tenants": [{"keys": ["HASH"]}]})"),
              HasSubstr("tenants[0]: name is missing"));
  EXPECT_EQ(Error(absl::StrCat(
                R"({"tenants": [{"name": "a", "keys": ["HASH"]},)",
                R"({"name": "a", "keys": [")", std::string(64, '0'), "\"]}]}")),
            "t.json: two tenants have the name 'a'");
}

TEST(TenantSettingsTest, AKeyIsOfOneTenant) {
  EXPECT_EQ(Error(R"({"tenants": [{"name": "a", "keys": ["HASH"]},
                                  {"name": "b", "keys": ["HASH"]}]})"),
            "t.json: keys[0] of tenant 'b' is a key of tenant 'a' already");
  EXPECT_EQ(Error(R"({"tenants": [{"name": "a", "keys": ["HASH", "HASH"]}]})"),
            "t.json: keys[1] of tenant 'a' is a key of tenant 'a' already");
}

TEST(TenantSettingsTest, NoErrorShowsAKey) {
  EXPECT_EQ(
      Error(R"({"tenants": [{"name": "a", "keys": ["HASH", "secret"]}]})"),
      "t.json: tenants[0]: keys[1] has 6 bytes, expected the 64 "
      "hexadecimal digits of the SHA-256 of a key (tenant 'a')");
  for (const char* text :
       {R"({"tenants": [{"name": "a", "keys": "secret"}]})",
        R"({"tenants": [{"name": "a", "keys": ["secret", 1]}]})",
        R"({"tenants": [{"name": "a", "keys": {"x": "secret"}}]})",
        R"({"tenants": [{"name": "a", "keys": []}]})",
        R"({"tenants": {"keys": ["secret"]}})",
        R"({"tenants": [{"keys": "secret"}, 3]})", R"({"tenants": []})",
        R"(["secret"])", R"("secret")",
        R"({"tenants": [{"name": "a", "keys": ["secret)",
        R"({"tenants": [{"name": "a", "keys": "secret" "name")", ""}) {
    EXPECT_EQ(Parse(text).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Error(text),
                AllOf(HasSubstr("t.json: "), Not(HasSubstr("secret"))))
        << text;
  }
}

TEST(TenantSettingsTest, BoundsOfAFile) {
  EXPECT_THAT(Error(std::string(kMaxTenantFileBytes + 1, ' ')),
              HasSubstr("1048577 bytes, limit is 1048576"));
  std::string keys;
  for (int i = 0; i < 17; ++i) {
    absl::StrAppend(&keys, i == 0 ? "" : ",", "\"HASH\"");
  }
  EXPECT_THAT(Error(absl::StrCat(R"({"tenants": [{"name": "a", "keys": [)",
                                 keys, "]}]}")),
              HasSubstr("keys is not a list of 1 to 16 strings"));
  std::string tenants;
  for (size_t i = 0; i <= kMaxTenants; ++i) {
    absl::StrAppend(&tenants, i == 0 ? "" : ",", "{}");
  }
  EXPECT_THAT(Error(absl::StrCat(R"({"tenants": [)", tenants, "]}")),
              HasSubstr("tenants is not a list of 1 to 1000 objects"));
  tenants.clear();
  for (int i = 0; i < 300; ++i) {
    absl::StrAppendFormat(&tenants, R"(%s{"name": "t%d", "keys": [)",
                          i == 0 ? "" : ",", i);
    for (int k = 0; k < 16; ++k) {
      absl::StrAppendFormat(&tenants, "%s\"%064x\"", k == 0 ? "" : ",",
                            16 * i + k);
    }
    absl::StrAppend(&tenants, "]}");
  }
  EXPECT_EQ(Error(absl::StrCat(R"({"tenants": [)", tenants, "]}")),
            "t.json: the tenants have 4800 keys, limit is 4096");
}

}  // namespace
}  // namespace attend
