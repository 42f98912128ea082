#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "server/openai/openai_api.h"
#include "tests/server/http_call/http_fixture.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

HttpFixtureOptions TwoModels() {
  HttpFixtureOptions options;
  options.engines = {{}, {}};
  options.engines[0].info.name = "org/a b";
  options.engines[0].info.max_target_tokens = 5000;
  options.engines[1].info.name = "second";
  options.apis = OpenAiApis();
  return options;
}

TEST(ModelsTest, AllThatServe) {
  HttpFixture fixture(TwoModels());
  const json answer =
      json::parse(BodyOf(HttpGet(fixture.port(), "/v1/models")));
  EXPECT_EQ(answer["object"], "list");
  ASSERT_EQ(answer["data"].size(), 2u);
  const json& model = answer["data"][0];
  EXPECT_EQ(model["id"], "org/a b");
  EXPECT_EQ(model["object"], "model");
  EXPECT_EQ(model["owned_by"], "attend");
  EXPECT_EQ(model["max_model_len"], 5000);
  EXPECT_GT(model["created"], 1700000000);
}

TEST(ModelsTest, AliasesAreAmongThem) {
  HttpFixture fixture(TwoModels());
  ASSERT_TRUE(fixture.models.SetAlias({"alias", {{"org/a b"}}}).ok());
  ASSERT_TRUE(fixture.models.SetAlias({"second", {{"org/a b"}}}).ok());
  const json list = json::parse(BodyOf(HttpGet(fixture.port(), "/v1/models")));
  ASSERT_EQ(list["data"].size(), 3u);
  EXPECT_EQ(list["data"][2]["id"], "alias");
  EXPECT_EQ(list["data"][2]["max_model_len"], 5000);
}

TEST(ModelsTest, OneByItsName) {
  HttpFixture fixture(TwoModels());
  for (const char* path : {"/v1/models/org/a%20b", "/v1/models/org%2Fa%20b"}) {
    const std::string answer = HttpGet(fixture.port(), path);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
    EXPECT_EQ(json::parse(BodyOf(answer))["id"], "org/a b");
  }
  const std::string missing = HttpGet(fixture.port(), "/v1/models/x");
  EXPECT_THAT(missing, StartsWith("HTTP/1.1 404 "));
  const json error = json::parse(BodyOf(missing))["error"];
  EXPECT_EQ(error["code"], "model_not_found");
  EXPECT_THAT(error["message"].get<std::string>(),
              StartsWith("model 'x' is not served"));
  EXPECT_THAT(HttpGet(fixture.port(), "/v1/models/%zz"),
              StartsWith("HTTP/1.1 400 "));
  const json unknown =
      json::parse(BodyOf(HttpGet(fixture.port(), "/v1/unknown")))["error"];
  EXPECT_EQ(unknown["type"], "not_found_error");
  EXPECT_EQ(unknown["code"], nullptr);
}

}  // namespace
}  // namespace attend
