// Routes of text-embeddings-inference.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/server/openai/openai_fixture.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

HttpFixtureOptions Labelling() {
  HttpFixtureOptions options = OpenAiFixture();
  ModelInfo& info = options.engines[0].info;
  info.continues_source = false;
  info.generates = info.embeds = info.fills_masks = false;
  info.classifies = true;
  info.labels = {"good", "bad"};
  return options;
}

TEST(TeiTest, PredictLabelsTextsAndPairs) {
  HttpFixture fixture(Labelling());
  const json one = PostJson(fixture, "/predict", R"({"inputs": "abc"})");
  ASSERT_EQ(one.size(), 2u) << one;
  EXPECT_GE(one[0]["score"].get<float>(), one[1]["score"].get<float>());
  const json all =
      PostJson(fixture, "/predict", R"({"inputs": [["abc"], ["abc", "de"]]})");
  ASSERT_EQ(all.size(), 2u) << all;
  EXPECT_EQ(all[0].dump(), one.dump());
  const json pair =
      PostJson(fixture, "/predict", R"({"inputs": ["abc", "de"]})");
  EXPECT_EQ(all[1].dump(), pair.dump());
  const json wrong =
      PostJson(fixture, "/predict", R"({"inputs": ["a", "b", "c"]})", 400);
  EXPECT_EQ(wrong["error_type"].get<std::string>(), "Validation");
  EXPECT_THAT(wrong["error"].get<std::string>(), HasSubstr("inputs"));
  const json no_task = PostJson(fixture, "/embed", R"({"inputs": "abc"})", 400);
  EXPECT_THAT(no_task["error"].get<std::string>(), HasSubstr("cannot embed"));
}

}  // namespace
}  // namespace attend
