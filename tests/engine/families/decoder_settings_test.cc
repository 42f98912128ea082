// What some decoders alone have of their own in config.json.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/families/load_family.h"
#include "tests/engine/families/config.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(MptTest, QueriesKeysAndValuesAreClipped) {
  const auto clip = [](const Json& value) {
    const auto family = LoadFamily(
        FixtureConfig("mpt-4x-clip", {{"attn_config", {{"clip_qkv", value}}}}));
    EXPECT_TRUE(family.ok()) << family.status();
    return family->spec.decoder->layers[0].self_attention.clip;
  };
  EXPECT_EQ(clip(6), 6);
  EXPECT_EQ(clip(0), 0);
  EXPECT_EQ(clip(nullptr), 0);
  for (const Json& value : {Json(-1), Json(1e30), Json("6"), Json(true)}) {
    const auto family = LoadFamily(
        FixtureConfig("mpt-4x-clip", {{"attn_config", {{"clip_qkv", value}}}}));
    EXPECT_THAT(
        std::string(family.status().message()),
        AllOf(HasSubstr("config.json: attn_config"), HasSubstr("clip_qkv is "),
              HasSubstr("expected a number in [0, 1e+06]")))
        << value;
  }
}

TEST(OptTest, TablesMayBeNarrowerThanLayers) {
  const auto narrow = LoadFamily(FixtureConfig("opt-4x-post-norm-projected"));
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  EXPECT_EQ(narrow->spec.hidden, 28);
  EXPECT_EQ(narrow->spec.decoder->embedding.width, 18);
  EXPECT_TRUE(narrow->spec.decoder->embedding.projects_tokens);
  EXPECT_EQ(narrow->spec.logits_projection->out, 18);
  for (const Json& width : {Json(28), Json()}) {
    const auto same = LoadFamily(FixtureConfig(
        "opt-4x-post-norm-projected", {{"word_embed_proj_dim", width}}));
    ASSERT_TRUE(same.ok()) << same.status();
    EXPECT_FALSE(same->spec.decoder->embedding.projects_tokens);
    EXPECT_FALSE(same->spec.logits_projection.has_value());
  }
}

}  // namespace
}  // namespace attend
