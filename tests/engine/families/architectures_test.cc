// config.json as people have it: model_type decides, "architectures" only says
// which head there is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/families/load_family.h"
#include "tests/engine/families/config.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

absl::StatusOr<Family> Named(const std::string& fixture, const Json& names) {
  return LoadFamily(FixtureConfig(fixture, {{"architectures", names}}));
}

TEST(ArchitecturesTest, AClassWithoutAnotherHeadIsIgnored) {
  for (const Json& names : std::vector<Json>{Json::array(),
                                             {"MPTForCausalLM"},
                                             {"LLaMAForCausalLM"},
                                             {"LlamaModel"},
                                             {"MyOwnModel", "LlamaForCausalLM"},
                                             {"OpenAIGPTLMHeadModel"},
                                             nullptr}) {
    const auto family = Named("llama-4x-linear-rope", names);
    EXPECT_TRUE(family.ok()) << names << family.status();
  }
  EXPECT_TRUE(Named("bert-4x-labels", {"RoFormerModel"})->labels.empty());
}

TEST(ArchitecturesTest, AnotherNameOfAHeadIsThatHead) {
  EXPECT_EQ(Named("bert-4x-labels", {"OwnForSequenceClassification"})
                ->spec.head->kind,
            HeadKind::kSequence);
  EXPECT_EQ(Named("bert-4x-labels", {"OwnModel", "OwnForTokenClassification"})
                ->spec.head->kind,
            HeadKind::kTokens);
}

TEST(ArchitecturesTest, AHeadThatIsNotComputedIsRefused) {
  for (const char* name :
       {"LlamaForDepthEstimation", "BertForMaskedLM", "LlamaEncoderModel"}) {
    EXPECT_THAT(Named("llama-4x-linear-rope", {name}).status().message(),
                AllOf(HasSubstr("architectures is "), HasSubstr(name),
                      HasSubstr("LlamaForCausalLM")));
  }
  EXPECT_THAT(Named("bert-4x-labels", {"BertLMHeadModel"}).status().message(),
              HasSubstr("architectures is [\"BertLMHeadModel\"]"));
}

TEST(ConfigsTest, AMillionPositionsLoad) {
  const auto family = LoadFamily(FixtureConfig(
      "qwen2-4x-yarn-rope",
      {{"max_position_embeddings", 1010000}, {"pretraining_tp", 4}}));
  ASSERT_TRUE(family.ok()) << family.status();
  EXPECT_EQ(family->spec.decoder->embedding.max_positions, 1010000);
  EXPECT_TRUE(
      LoadFamily(FixtureConfig("llama-4x-linear-rope", {{"pretraining_tp", 2}}))
          .ok());
}

TEST(ConfigsTest, TheFirstGemmaMeansTheTanhForm) {
  const auto activation = [](const Json& changes) {
    return LoadFamily(FixtureConfig("gemma-wide-heads", changes))
        ->spec.decoder->layers[0]
        .feed_forward.activation;
  };
  EXPECT_EQ(activation({{"hidden_act", "gelu"}}), Activation::kGeluTanh);
  EXPECT_EQ(activation({{"hidden_act", "gelu"}, {"hidden_activation", "gelu"}}),
            Activation::kGeluTanh);
  EXPECT_EQ(activation({{"hidden_act", "silu"}}), Activation::kSilu);
}

TEST(ConfigsTest, LabelsAreCountedAsTransformersDoes) {
  using ::testing::ElementsAre;
  const auto labels = [](const Json& changes) {
    return LoadFamily(FixtureConfig("bert-4x-labels", changes))->labels;
  };
  EXPECT_THAT(labels({{"id2label", {{"0", "a"}, {"2", "c"}}}}),
              ElementsAre("a", "LABEL_1"));
  EXPECT_THAT(labels({{"num_labels", 2}}), ElementsAre("LABEL_0", "LABEL_1"));
}

}  // namespace
}  // namespace attend
