// Fields of config.json that decoders of some families have alone: what they
// change, and what is refused by its name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/families/load_family.h"
#include "tests/engine/families/config.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Refused {
  const char* fixture;
  Json changes;
  const char* error;
};

TEST(DecoderChoicesTest, WhatIsNotComputedIsNamed) {
  const std::vector<Refused> all = {
      {"falcon-shared-key", {{"alibi", true}}, "alibi is true"},
      {"falcon-shared-key",
       {{"num_ln_in_parallel_attn", 2}},
       "num_ln_in_parallel_attn is 2"},
      {"falcon-groups", {{"parallel_attn", false}}, "parallel_attn is false"},
      {"falcon-groups", {{"num_kv_heads", 3}}, "num_kv_heads is 3"},
      {"falcon-sequential", {{"num_kv_heads", 1}}, "num_kv_heads is 1"},
      {"gptj-part-of-heads", {{"rotary_dim", Json()}}, "rotary_dim is missing"},
      {"gptj-part-of-heads", {{"rotary_dim", 7}}, "expected an even number"},
      {"codegen-four-machines", {{"n_head", 2}}, "expected a multiple of 4"},
      {"gpt_neo-windows",
       Json::parse(
           R"({"attention_types": [[["global", "far", "local"], 1]],
              "attention_layers": null})"),
       "attention_types is "},
      {"gpt_neo-windows",
       Json::parse(R"({"attention_types": [[["global"], 1000000000]]})"),
       "expected a list of pairs: a list of strings"},
      {"gpt_neo-windows",
       {{"attention_layers", {"local", "local", "local"}}},
       "expected that of attention_types"},
      {"gpt_neo-windows", {{"window_size", 1}}, "window_size is 1"},
      {"cohere2-4x-windows",
       {{"sliding_window", Json()}},
       "sliding_window is missing"},
      {"granite-factors",
       {{"residual_multiplier", 0}},
       "residual_multiplier is 0"},
      {"olmo-clip", {{"is_causal", false}}, "is_causal is false"},
      {"ministral3-yarn", {{"rope_parameters", Json()}}, "rope_parameters"},
      {"hunyuan-4x-alpha", {{"head_dim", Json()}}, "head_dim is missing"},
  };
  for (const Refused& refused : all) {
    const auto family =
        LoadFamily(FixtureConfig(refused.fixture, refused.changes));
    EXPECT_THAT(std::string(family.status().message()),
                HasSubstr(refused.error))
        << refused.fixture << refused.changes;
  }
}

// Granite: the factor of the branches is in the embeddings.
TEST(DecoderChoicesTest, FactorsOfResidualsDivideEmbeddingsAndEpsilons) {
  const auto family = LoadFamily(
      FixtureConfig("granite-factors", {{"embedding_multiplier", 12},
                                        {"residual_multiplier", 0.25},
                                        {"attention_multiplier", 0.0625},
                                        {"logits_scaling", 8},
                                        {"rms_norm_eps", 1e-5}}));
  ASSERT_TRUE(family.ok()) << family.status();
  const StackSpec& decoder = *family->spec.decoder;
  EXPECT_EQ(decoder.embedding.scale, 48);
  EXPECT_FLOAT_EQ(decoder.layers[0].norm.epsilon, 16e-5f);
  EXPECT_EQ(decoder.layers[0].self_attention.scale, 0.0625f);
  EXPECT_EQ(family->spec.logits_scale, 0.125f);
}

TEST(DecoderChoicesTest, WindowsAndPositionsGoByTheLayer) {
  const auto rotates = [](const char* fixture, int layer) {
    const auto family = LoadFamily(FixtureConfig(fixture));
    const AttentionSpec& attention =
        family->spec.decoder->layers[layer].self_attention;
    return std::pair(attention.window, attention.rotary.has_value());
  };
  EXPECT_EQ(rotates("cohere2-4x-windows", 0), std::pair(18, true));
  EXPECT_EQ(rotates("cohere2-4x-windows", 3), std::pair(0, false));
  EXPECT_EQ(rotates("exaone4-4x-windows", 1), std::pair(18, true));
  EXPECT_EQ(rotates("exaone4-4x-windows", 2), std::pair(0, false));
  EXPECT_EQ(rotates("exaone4-no-window", 0), std::pair(0, true));
  EXPECT_EQ(rotates("gpt_neo-windows", 0), std::pair(0, false));
  EXPECT_EQ(rotates("gpt_neo-windows", 2), std::pair(16, false));
}

// Beyond them its queries have a factor, which is not computed.
TEST(DecoderChoicesTest, Ministral3HasThePositionsWithoutAFactor) {
  const auto family = LoadFamily(FixtureConfig("ministral3-yarn"));
  ASSERT_TRUE(family.ok()) << family.status();
  EXPECT_EQ(family->spec.decoder->embedding.max_positions, 48);
}

// The first files of Qwen2-VL have the fields of the language model at the top,
// and sections of positions as a kind of their own.
TEST(TextHalfTest, FieldsMayBeAtTheTop) {
  const JsonFile nested = FixtureConfig("qwen2_vl-text");
  Json flat = *nested.Find("text_config");
  flat["model_type"] = "qwen2_vl";
  flat["rope_parameters"] = nullptr;
  flat["rope_theta"] = 500.0;
  flat["rope_scaling"] = {{"type", "mrope"}, {"mrope_section", {1, 1, 2}}};
  flat["text_config"] = nullptr;
  const auto one = LoadFamily(nested);
  const auto two = LoadFamily(FixtureConfig("qwen2_vl-text", flat));
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_TRUE(one->spec.decoder->layers == two->spec.decoder->layers);
}

// Gemma 3's files leave out what is a default.
TEST(TextHalfTest, FieldsThatAreAbsentHaveTheDefaultsOfTheTextHalf) {
  const Json text = {{"model_type", "gemma3_text"},
                     {"hidden_size", 2560},
                     {"intermediate_size", 10240},
                     {"num_hidden_layers", 34},
                     {"sliding_window", 1024}};
  const auto family =
      LoadFamily(FixtureConfig("gemma3-text", {{"text_config", text}}));
  ASSERT_TRUE(family.ok()) << family.status();
  const StackSpec& decoder = *family->spec.decoder;
  EXPECT_EQ(decoder.embedding.vocab, 262208);
  EXPECT_EQ(decoder.layers[0].self_attention.heads, 8);
  EXPECT_EQ(decoder.layers[0].self_attention.kv_heads, 4);
  EXPECT_EQ(decoder.layers[0].self_attention.head_dim, 256);
  EXPECT_EQ(decoder.layers[0].self_attention.window, 1023);
  EXPECT_EQ(decoder.layers[5].self_attention.window, 0);
}

TEST(TextHalfTest, OtherLanguageModelsAreNamed) {
  const auto family = LoadFamily(
      FixtureConfig("llava-text", {{"text_config", {{"model_type", "opt"}}}}));
  EXPECT_THAT(
      std::string(family.status().message()),
      HasSubstr("text_config: model_type is \"opt\", expected one of "));
}

}  // namespace
}  // namespace attend
