// Directories of models that compare tokens, and of sparse encoders.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/engine/checkpoint/files.h"
#include "tests/engine/families/read_modules.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class TokenModulesTest : public testing::Test {
 protected:
  TokenModulesTest() {
    family_.spec.hidden = 24;
    family_.spec.encoder.emplace();
    fs::create_directory(directory_.path() + "/1_Dense");
    fs::create_directory(directory_.path() + "/1_SpladePooling");
    modules_ = {Module("", "sentence_transformers.models.Transformer"),
                Module("1_Dense", "pylate.models.Dense.Dense")};
    config_ = {{"model_type", "ColBERT"}};
  }

  static Json Module(const std::string& path, const std::string& type) {
    return {{"idx", 0}, {"name", "0"}, {"path", path}, {"type", type}};
  }
  absl::Status Read() {
    directory_.Write("modules.json", modules_.dump());
    directory_.Write("1_Dense/config.json", dense_.dump());
    directory_.Write("1_SpladePooling/config.json", splade_.dump());
    directory_.Write("config_sentence_transformers.json", config_.dump());
    Family family = family_;
    const absl::Status status = ReadSentenceModules(directory_.path(), family);
    read_ = family;
    return status;
  }
  std::string Error() {
    const absl::Status status = Read();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  const TestDirectory directory_;
  Json modules_, config_;
  Json dense_ = {{"in_features", 24}, {"out_features", 8}, {"bias", false}};
  Json splade_ = Json::object();
  Family family_, read_;
};

TEST_F(TokenModulesTest, PylateFillsQueriesUpAndSkipsPunctuationByDefault) {
  ASSERT_TRUE(Read().ok()) << Read();
  const EmbedSpec& embed = read_.spec.embed;
  EXPECT_FALSE(embed.pooled);
  ASSERT_EQ(embed.tokens->layers.size(), 2u);
  EXPECT_EQ(embed.tokens->layers[0].out, 8);
  EXPECT_TRUE(embed.tokens->layers[1].unit_length);
  EXPECT_EQ(read_.names.rows[0].slot, "tokens.0.weight");
  const TokenVectorsWords& words = read_.token_vectors;
  EXPECT_EQ(words.expanded_tokens, 32);
  EXPECT_EQ(words.query_tokens, 32);
  EXPECT_FALSE(words.expansion_attended);
  EXPECT_EQ(words.skipped.size(), 32u);
  EXPECT_THAT(words.skipped, Contains("\\"));
  config_.update({{"query_prefix", "[Q] "},
                  {"do_query_expansion", false},
                  {"query_length", 17},
                  {"skiplist_words", Json::array()}});
  ASSERT_TRUE(Read().ok()) << Read();
  EXPECT_EQ(read_.token_vectors.expanded_tokens, 0);
  EXPECT_EQ(read_.token_vectors.query_tokens, 17);
  EXPECT_TRUE(read_.token_vectors.skipped.empty());
  EXPECT_EQ(read_.prompts["query"], "[Q] ");
  EXPECT_THAT(read_.prefixes, ElementsAre("[Q] ", "[Q]"));
}

TEST_F(TokenModulesTest, WhatIsNotSupportedIsNamed) {
  const Json modules = modules_;
  modules_.push_back(Module("1_Dense", "sentence_transformers.models.Pooling"));
  EXPECT_THAT(Error(), HasSubstr("in a model that compares tokens"));
  modules_ = modules;
  dense_["module_input_name"] = "sentence_embedding";
  EXPECT_THAT(Error(), HasSubstr("expected token_embeddings"));
  dense_.erase("module_input_name");
  config_["query_expansion"] = {{"strategy", "some"}, {"length", 5}};
  EXPECT_THAT(Error(), HasSubstr("fixed or min"));
  config_["query_expansion"] = {{"strategy", "fixed"}, {"length", 0}};
  EXPECT_THAT(Error(), HasSubstr("length is 0"));
  config_.erase("query_expansion");
  config_["keep_only_token_ids"] = {1};
  EXPECT_THAT(Error(), HasSubstr("keep_only_token_ids"));
}

TEST_F(TokenModulesTest, ASpladePoolingNeedsLogits) {
  config_ = Json::object();
  modules_[1] = Module("1_SpladePooling",
                       "sentence_transformers.sparse_encoder.models."
                       "SpladePooling");
  EXPECT_THAT(Error(), HasSubstr("needs a masked-LM head"));
  family_.spec.head = HeadSpec{.kind = HeadKind::kMaskedLm, .layers = {}};
  ASSERT_TRUE(Read().ok()) << Read();
  EXPECT_FALSE(read_.spec.embed.pooled);
  EXPECT_FALSE(read_.spec.embed.sparse->sums);
  EXPECT_EQ(read_.spec.embed.sparse->logs, 1);
  splade_ = {{"pooling_strategy", "mean"}};
  EXPECT_THAT(Error(), HasSubstr("max or sum"));
  splade_ = {{"activation_function", "gelu"}};
  EXPECT_THAT(Error(), HasSubstr("relu or log1p_relu"));
  splade_ = Json::object();
  modules_.push_back(modules_[1]);
  EXPECT_THAT(Error(), HasSubstr("a Transformer and a Pooling"));
}

}  // namespace
}  // namespace attend
