// config.json as people have it: model_type decides, "architectures" only says
// which head there is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/families/load_family.h"
#include "tests/engine/families/config.h"
#include "tests/engine/families/read_modules.h"

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

// One directory generates, embeds or labels, as its class says.
TEST(ArchitecturesTest, ADecoderOfAClassWithoutAHeadEmbeds) {
  const std::string directory =
      ATTEND_SOURCE_DIR "/tests/golden/families/llama-4x-linear-rope";
  const auto generates = [&](const Json& names) {
    Family family = *Named("llama-4x-linear-rope", names);
    EXPECT_TRUE(ReadSentenceModules(directory, family).ok());
    return family.spec.generates;
  };
  EXPECT_FALSE(generates({"LlamaModel"}));
  EXPECT_TRUE(generates({"LlamaForCausalLM"}));
  EXPECT_TRUE(generates({"MyOwnModel", "LlamaForCausalLM"}));
  EXPECT_TRUE(generates({"OpenAIGPTLMHeadModel"}));
  EXPECT_TRUE(generates(Json::array()));
}

// The vectors of OPT 350M have another width than its layers.
TEST(ArchitecturesTest, AProjectedDecoderThatEmbedsIsRefused) {
  Family family = *Named("opt-4x-post-norm-projected", {"OPTModel"});
  EXPECT_THAT(ReadSentenceModules("/nowhere", family).message(),
              HasSubstr("are mapped to 18 numbers"));
}

TEST(ArchitecturesTest, PaddingHasTheIdOfTheFamilyIfTheFileNamesNone) {
  const auto padding = [](const std::string& fixture) {
    Json json;
    std::ifstream(ATTEND_SOURCE_DIR "/tests/golden/families/" + fixture +
                  "/config.json") >>
        json;
    json.erase("pad_token_id");
    return LoadFamily(*JsonFile::Parse("config.json", json.dump()))
        ->spec.head->padding_id;
  };
  EXPECT_EQ(padding("gemma-labels"), 0);
  EXPECT_EQ(padding("opt-labels"), 1);
  EXPECT_EQ(padding("llama-labels"), -1);
  // 32000, which a vocabulary of 61 does not have.
  EXPECT_EQ(padding("phi3-labels"), -1);
  const auto null = FixtureConfig("gemma-labels", {{"pad_token_id", nullptr}});
  EXPECT_EQ(LoadFamily(null)->spec.head->padding_id, -1);
}

TEST(ArchitecturesTest, AnEncoderThatDecodesIsOneOfBert) {
  const auto error = [](const char* fixture, const Json& changes) {
    return std::string(
        LoadFamily(FixtureConfig(fixture, changes)).status().message());
  };
  EXPECT_THAT(error("bert-causal", {{"architectures", {"BertModel"}}}),
              HasSubstr("is_decoder is true, expected false without "
                        "BertLMHeadModel"));
  EXPECT_THAT(
      error("roberta-mask",
            {{"is_decoder", true}, {"architectures", {"RobertaForCausalLM"}}}),
      HasSubstr("is_decoder is true"));
}

TEST(ArchitecturesTest, ChoicesAreSummedUpAsTheFileSays) {
  const auto head = [](const char* fixture, const Json& changes) {
    return *LoadFamily(FixtureConfig(fixture, changes))->spec.head;
  };
  const Json absent = {{"summary_type", nullptr},
                       {"summary_use_proj", nullptr},
                       {"summary_activation", nullptr}};
  EXPECT_EQ(head("electra-choice", Json::object()).pooling, Pooling::kCls);
  EXPECT_EQ(head("electra-choice", Json::object()).layers.size(), 2u);
  EXPECT_EQ(head("electra-choice", {{"summary_type", "mean"}}).pooling,
            Pooling::kMean);
  EXPECT_EQ(
      head("roformer-mean-choice", Json::object()).layers.front().activation,
      Activation::kTanh);
  EXPECT_EQ(head("roformer-mean-choice", absent).pooling, Pooling::kLast);
  EXPECT_EQ(head("roformer-mean-choice", absent).layers.size(), 1u);
  const auto error = [](const Json& changes) {
    return std::string(
        LoadFamily(FixtureConfig("roformer-mean-choice", changes))
            .status()
            .message());
  };
  EXPECT_THAT(error({{"summary_type", "attn"}}),
              HasSubstr("summary_type is \"attn\", expected one of first"));
  EXPECT_THAT(error({{"summary_proj_to_labels", true}}),
              HasSubstr("summary_proj_to_labels is true"));
  EXPECT_THAT(error({{"summary_use_proj", false}}),
              HasSubstr("summary_activation is \"tanh\", expected null"));
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
