#include "engine/families/shared/sentence_transformers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/engine/checkpoint/files.h"
#include "tests/engine/families/read_modules.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Json = nlohmann::json;

Json Module(const std::string& path, const std::string& type) {
  return {{"idx", 0}, {"name", "0"}, {"path", path}, {"type", type}};
}
const std::string kOld = "sentence_transformers.models.";

class SentenceTransformersTest : public testing::Test {
 protected:
  SentenceTransformersTest() {
    family_.spec.hidden = 24;
    family_.spec.encoder.emplace();
    fs::create_directory(directory_.path() + "/1_Pooling");
    fs::create_directory(directory_.path() + "/2_Dense");
    modules_ = {Module("", kOld + "Transformer"),
                Module("1_Pooling", kOld + "Pooling")};
    pooling_ = {{"word_embedding_dimension", 24}};
    dense_ = {{"in_features", 24}, {"out_features", 8}};
  }

  absl::Status Read() {
    directory_.Write("modules.json", modules_.dump());
    directory_.Write("1_Pooling/config.json", pooling_.dump());
    directory_.Write("2_Dense/config.json", dense_.dump());
    return ReadSentenceModules(directory_.path(), family_);
  }
  std::string Error() {
    const absl::Status status = Read();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  const TestDirectory directory_;
  Json modules_, pooling_, dense_;
  Family family_;
};

TEST_F(SentenceTransformersTest, APlainModelIsTheMeanOfItsVectors) {
  ASSERT_TRUE(ReadSentenceModules(directory_.path(), family_).ok());
  EXPECT_THAT(family_.spec.embed.poolings, ElementsAre(Pooling::kMean));
  EXPECT_FALSE(family_.spec.embed.normalize);
  EXPECT_TRUE(family_.spec.embed.layers.empty());
  EXPECT_EQ(family_.max_text_tokens, 0);
}

TEST_F(SentenceTransformersTest, ReadsAllFiles) {
  modules_.push_back(Module("2_Dense", kOld + "Dense"));
  modules_.push_back(Module("3_Normalize", kOld + "Normalize"));
  pooling_["pooling_mode_cls_token"] = true;
  pooling_["pooling_mode_mean_tokens"] = false;
  dense_["activation_function"] = "torch.nn.modules.activation.GELU";
  directory_.Write("sentence_bert_config.json",
                   R"({"max_seq_length": 256, "do_lower_case": false})");
  directory_.Write("config_sentence_transformers.json",
                   R"({"prompts": {"query": "q: ", "passage": ""},
                       "default_prompt_name": "query"})");
  ASSERT_TRUE(Read().ok()) << Read();
  const EmbedSpec& embed = family_.spec.embed;
  EXPECT_THAT(embed.poolings, ElementsAre(Pooling::kCls));
  EXPECT_TRUE(embed.normalize);
  ASSERT_EQ(embed.layers.size(), 1u);
  EXPECT_EQ(embed.layers[0].out, 8);
  EXPECT_EQ(embed.layers[0].activation, Activation::kGelu);
  EXPECT_THAT(family_.folders, ElementsAre("2_Dense"));
  ASSERT_EQ(family_.names.rows.size(), 2u);
  EXPECT_EQ(family_.names.rows[1].slot, "embed.0.bias");
  EXPECT_THAT(family_.names.rows[1].tensors,
              ElementsAre("2_Dense/linear.bias"));
  EXPECT_EQ(family_.max_text_tokens, 256);
  EXPECT_THAT(family_.prompts,
              ElementsAre(Pair("passage", ""), Pair("query", "q: ")));
  EXPECT_EQ(family_.default_prompt, "query");
}

TEST_F(SentenceTransformersTest, NewerNames) {
  const std::string package = "sentence_transformers.";
  modules_ = {Module("", package + "base.modules.transformer.Transformer"),
              Module("1_Pooling",
                     package + "sentence_transformer.modules.pooling.Pooling"),
              Module("2_Dense", package + "base.modules.dense.Dense")};
  pooling_ = {{"embedding_dimension", 24}, {"pooling_mode", "lasttoken"}};
  dense_["bias"] = false;
  ASSERT_TRUE(Read().ok()) << Read();
  EXPECT_THAT(family_.spec.embed.poolings, ElementsAre(Pooling::kLast));
  EXPECT_EQ(family_.spec.embed.layers[0].activation, Activation::kTanh);
  EXPECT_EQ(family_.names.rows.size(), 1u);
}

TEST_F(SentenceTransformersTest, SeveralPoolingsAreInTheOrderOfTheLibrary) {
  EmbedSpec& embed = family_.spec.embed;
  pooling_ = {{"pooling_mode_lasttoken", true},
              {"pooling_mode_mean_sqrt_len_tokens", true},
              {"pooling_mode_max_tokens", true},
              {"include_prompt", false}};
  ASSERT_TRUE(Read().ok()) << Read();
  EXPECT_THAT(
      embed.poolings,
      ElementsAre(Pooling::kMax, Pooling::kMeanSqrtLength, Pooling::kLast));
  EXPECT_FALSE(embed.pools_prompt);
  pooling_ = {{"pooling_mode", {"weightedmean", "cls"}}};
  ASSERT_TRUE(Read().ok()) << Read();
  EXPECT_THAT(embed.poolings,
              ElementsAre(Pooling::kWeightedMean, Pooling::kCls));
  EXPECT_TRUE(embed.pools_prompt);
  pooling_ = {{"pooling_mode_cls_token", false}};
  ASSERT_TRUE(Read().ok()) << Read();
  EXPECT_THAT(embed.poolings, ElementsAre(Pooling::kMean));
}

TEST_F(SentenceTransformersTest, ModulesAfterThePoolingAreInAnyOrder) {
  modules_.push_back(Module("2_Normalize", kOld + "Normalize"));
  modules_.push_back(Module("3_Dropout", kOld + "Dropout"));
  modules_.push_back(Module("2_Dense", kOld + "Dense"));
  modules_.push_back(Module("4_LayerNorm", kOld + "LayerNorm"));
  modules_.push_back(Module("5_Normalize", kOld + "Normalize"));
  pooling_["pooling_mode"] = {"cls", "max"};
  dense_ = {{"in_features", 48},
            {"out_features", 9},
            {"use_residual", true},
            {"activation_function", "torch.nn.modules.activation.Softplus"}};
  fs::create_directory(directory_.path() + "/4_LayerNorm");
  directory_.Write("4_LayerNorm/config.json", R"({"dimension": 9})");
  directory_.Write("config_sentence_transformers.json",
                   R"({"truncate_dim": 7})");
  ASSERT_TRUE(Read().ok()) << Read();
  const std::vector<DenseSpec>& layers = family_.spec.embed.layers;
  ASSERT_EQ(layers.size(), 5u);
  EXPECT_TRUE(!layers[0].linear && layers[0].unit_length);
  EXPECT_EQ(layers[0].out, 48);
  EXPECT_EQ(layers[1].pointwise, Pointwise::kSoftplus);
  EXPECT_TRUE(layers[1].residual);
  EXPECT_TRUE(!layers[2].linear && layers[2].norm);
  // The length is 1 before the vector is cut.
  EXPECT_TRUE(layers[3].unit_length);
  EXPECT_EQ(layers[4].out, 7);
  EXPECT_FALSE(family_.spec.embed.normalize);
  std::vector<std::string> slots;
  slots.reserve(family_.names.rows.size());
  for (const NameRow& row : family_.names.rows) slots.push_back(row.slot);
  EXPECT_THAT(slots, ElementsAre("embed.1.weight", "embed.1.bias",
                                 "embed.1.residual.weight",
                                 "embed.2.norm.weight", "embed.2.norm.bias"));
  EXPECT_THAT(family_.folders, ElementsAre("2_Dense", "4_LayerNorm"));
}

TEST_F(SentenceTransformersTest, TheTransformerMayHaveAFolder) {
  modules_[0]["path"] = "0_Transformer";
  fs::create_directory(directory_.path() + "/0_Transformer");
  directory_.Write("0_Transformer/sentence_bert_config.json",
                   R"({"max_seq_length": 77, "do_lower_case": true})");
  ASSERT_TRUE(Read().ok()) << Read();
  const auto modules = ReadModuleList(directory_.path());
  const FirstModule& first = modules->groups.front().first;
  EXPECT_EQ(first.folder, "0_Transformer");
  EXPECT_EQ(first.directory, directory_.path() + "/0_Transformer");
  EXPECT_EQ(first.kind, FirstModule::Kind::kTransformer);
  EXPECT_EQ(family_.max_text_tokens, 77);
  EXPECT_TRUE(family_.lower_case);
}

TEST_F(SentenceTransformersTest, AHeadIsNotLoadedWhereThereIsAPooling) {
  family_.spec.head = HeadSpec{.kind = HeadKind::kMaskedLm, .layers = {}};
  family_.names.rows.resize(2);
  family_.names.rows[0].slot = "encoder.embedding.tokens";
  family_.names.rows[1].slot = "head.0.weight";
  family_.names.rows[1].tensors = {"lm_head.dense.weight"};
  const Json all = modules_;
  modules_.erase(1);
  ASSERT_TRUE(Read().ok()) << Read();
  EXPECT_TRUE(family_.spec.head.has_value());
  modules_ = all;
  ASSERT_TRUE(Read().ok()) << Read();
  EXPECT_FALSE(family_.spec.head.has_value());
  EXPECT_EQ(family_.names.rows.size(), 1u);
  EXPECT_THAT(family_.names.unused, ElementsAre("lm_head.dense.weight"));
}

TEST_F(SentenceTransformersTest, ACrossEncoderNamesItsFunction) {
  family_.spec.head = HeadSpec{.kind = HeadKind::kSequence, .layers = {}};
  family_.label_scores = LabelScores::kSigmoid;
  modules_.erase(1);
  const auto scores = [&](const Json& function) {
    directory_.Write("config_sentence_transformers.json",
                     Json{{"activation_fn", function}}.dump());
    EXPECT_TRUE(Read().ok()) << Read();
    EXPECT_EQ(family_.pair_scores, family_.label_scores);
    return family_.label_scores;
  };
  EXPECT_EQ(scores(nullptr), LabelScores::kSigmoid);
  EXPECT_EQ(scores("torch.nn.modules.linear.Identity"), LabelScores::kRaw);
  EXPECT_EQ(scores("torch.nn.modules.activation.Sigmoid"),
            LabelScores::kSigmoid);
  directory_.Write("config_sentence_transformers.json",
                   R"({"activation_fn": "torch.nn.modules.activation.Tanh"})");
  EXPECT_THAT(Error(), HasSubstr("activation_fn is \"torch.nn.modules."));
  directory_.Write("config_sentence_transformers.json",
                   R"({"prompts": {"q": ""}, "default_prompt_name": "q"})");
  EXPECT_THAT(Error(), HasSubstr("only texts to embed have prompts"));
}

TEST_F(SentenceTransformersTest, WhatIsNotSupportedIsNamed) {
  const Json modules = modules_, pooling = pooling_, dense = dense_;
  const auto reset = [&] {
    modules_ = modules;
    pooling_ = pooling;
    dense_ = dense;
  };
  for (const char* type : {"WeightedLayerPooling", "WordWeights", "CNN"}) {
    modules_[1]["type"] = kOld + type;
    EXPECT_THAT(Error(), HasSubstr("a Transformer and a Pooling"));
  }
  modules_[0]["type"] = kOld + "BoW";
  EXPECT_THAT(Error(), HasSubstr("as the first module"));
  modules_ = modules;
  modules_[1]["type"] = "my_module.Pooling";
  EXPECT_THAT(Error(), HasSubstr("a class of sentence_transformers"));
  modules_ = {modules[1], modules[0]};
  EXPECT_THAT(Error(), HasSubstr("as the first module"));
  modules_ = {modules[0], modules[1], modules[1]};
  EXPECT_THAT(Error(), HasSubstr("a Transformer and a Pooling"));
  modules_ = modules;
  for (const char* path : {"../1_Pooling", "..", "a/b"}) {
    modules_[0]["path"] = path;
    EXPECT_THAT(Error(), HasSubstr("the name of a folder"));
  }

  reset();
  for (const Json& mode : {Json("x"), Json({"cls", "x"}), Json::array()}) {
    pooling_ = {{"pooling_mode", mode}};
    EXPECT_THAT(Error(), HasSubstr("pooling_mode is"));
  }
  pooling_ = {{"word_embedding_dimension", 25}};
  EXPECT_THAT(Error(), HasSubstr("word_embedding_dimension is 25"));
  reset();
  modules_.push_back(Module("2_Dense", kOld + "Dense"));
  dense_["in_features"] = 23;
  EXPECT_THAT(Error(), HasSubstr("in_features is 23"));
  dense_ = dense;
  for (const char* name : {"torch.nn.modules.activation.PReLU", "x.Tanh"}) {
    dense_["activation_function"] = name;
    EXPECT_THAT(Error(), HasSubstr("a function of single numbers"));
  }
  dense_ = dense;
  dense_["module_input_name"] = "token_embeddings";
  EXPECT_THAT(Error(), HasSubstr("token_embeddings"));

  reset();
  modules_[0]["type"] = "custom_st.Transformer";
  EXPECT_THAT(Error(), HasSubstr("as config.json has no adapters"));

  reset();
  directory_.Write("config_sentence_transformers.json",
                   R"({"prompts": {}, "default_prompt_name": "q"})");
  EXPECT_THAT(Error(), HasSubstr("default_prompt_name is \"q\""));
}

// A Transformer of the repository's own code, whose embedding is then pooled.
TEST_F(SentenceTransformersTest, AdaptersHaveAModuleOfTheirOwn) {
  family_.spec.adapters = {.count = 2, .rank = 3};
  family_.spec.embed.normalize = true;  // without modules
  family_.prompts = {{"a", "of config.json"}, {"b", ""}};
  modules_[0]["type"] = "custom_st.Transformer";
  directory_.Write("config_sentence_transformers.json",
                   R"({"prompts": {"a": "A: "}})");
  ASSERT_EQ(Read(), absl::OkStatus());
  EXPECT_FALSE(family_.spec.embed.normalize);
  EXPECT_THAT(family_.prompts, ElementsAre(Pair("a", "A: "), Pair("b", "")));
}

}  // namespace
}  // namespace attend
