#include "engine/families/shared/generation_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/families/load_family.h"
#include "tests/engine/families/config.h"
#include "tests/support/limit_cases.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class GenerationConfigTest : public testing::Test {
 protected:
  GenerationConfigTest() {
    std::string name = testing::TempDir() + "attend-XXXXXX";
    directory_ = mkdtemp(name.data());
    spec_ = LoadFamily(Config())->spec;
  }
  ~GenerationConfigTest() override { fs::remove_all(directory_); }

  // generation_config.json with a start token and the given keys.
  absl::StatusOr<GenerationParams> Load(Json keys) {
    keys.emplace("decoder_start_token_id", 8000);  // unless it is there
    std::ofstream(directory_ + "/generation_config.json") << keys.dump();
    return LoadGenerationParams(directory_, Config(), spec_);
  }
  std::string directory_;
  TransformerSpec spec_;
};

TEST_F(GenerationConfigTest, DefaultsAreThoseOfTransformers) {
  const auto params = Load(Json::object());
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->max_new_tokens, GenerationParams{}.max_new_tokens);
  EXPECT_EQ(params->num_beams, 1);
  EXPECT_EQ(params->early_stopping, EarlyStopping::kFalse);
  EXPECT_EQ(params->top_k, 50);
  EXPECT_EQ(params->length_penalty, 1.0f);
  EXPECT_EQ(params->forced_eos_id, -1);  // config.json's does not count
  EXPECT_EQ(params->pad_id, -1);
  EXPECT_TRUE(params->eos_ids.empty());
  EXPECT_EQ(params->decoder_start_id, 8000);
}

TEST_F(GenerationConfigTest, ReadsEveryField) {
  const auto params = Load({{"max_length", 100},
                            {"min_length", 4},
                            {"num_beams", 6},
                            {"num_return_sequences", 2},
                            {"length_penalty", 0.6},
                            {"early_stopping", "never"},
                            {"temperature", 0.5},
                            {"top_k", 0},
                            {"top_p", 0.9},
                            {"min_p", 0.1},
                            {"repetition_penalty", 1.2},
                            {"no_repeat_ngram_size", 3},
                            {"renormalize_logits", true},
                            {"bad_words_ids", {{8000}, {1, 2}}},
                            {"sequence_bias", {{{8000}, -1.5}, {{1, 2}, 2}}},
                            {"suppress_tokens", {3, 4}},
                            {"begin_suppress_tokens", {5}},
                            {"stop_strings", "END"},
                            {"eos_token_id", {0, 5}},
                            {"pad_token_id", 8000},
                            {"forced_bos_token_id", 7},
                            {"forced_eos_token_id", {0}}});
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->max_new_tokens, 99);  // less the decoder start
  EXPECT_EQ(params->min_new_tokens, 3);
  EXPECT_EQ(params->num_beams, 6);
  EXPECT_EQ(params->num_return_sequences, 2);
  EXPECT_EQ(params->length_penalty, 0.6f);
  EXPECT_EQ(params->early_stopping, EarlyStopping::kNever);
  EXPECT_EQ(params->temperature, 0.5f);
  EXPECT_EQ(params->top_k, 0);
  EXPECT_EQ(params->top_p, 0.9f);
  EXPECT_EQ(params->min_p, 0.1f);
  EXPECT_EQ(params->repetition_penalty, 1.2f);
  EXPECT_EQ(params->no_repeat_ngram_size, 3);
  EXPECT_TRUE(params->renormalize_logits);
  EXPECT_THAT(params->bad_words,
              ElementsAre(ElementsAre(8000), ElementsAre(1, 2)));
  ASSERT_EQ(params->sequence_bias.size(), 2u);
  EXPECT_THAT(params->sequence_bias[0].tokens, ElementsAre(8000));
  EXPECT_EQ(params->sequence_bias[0].bias, -1.5f);
  EXPECT_THAT(params->sequence_bias[1].tokens, ElementsAre(1, 2));
  EXPECT_EQ(params->sequence_bias[1].bias, 2);
  EXPECT_THAT(params->suppress_tokens, ElementsAre(3, 4));
  EXPECT_THAT(params->begin_suppress_tokens, ElementsAre(5));
  EXPECT_THAT(params->stop_strings, ElementsAre("END"));
  EXPECT_THAT(params->eos_ids, ElementsAre(0, 5));
  EXPECT_EQ(params->pad_id, 8000);
  EXPECT_EQ(params->forced_bos_id, 7);
  EXPECT_EQ(params->forced_eos_id, 0);
}

TEST_F(GenerationConfigTest, HoldsTheLimitsOfEveryField) {
  spec_.decoder->embedding.max_positions = std::numeric_limits<int>::max();
  for (const LimitCase& c : LimitCases()) {
    Json keys;
    for (const auto& [name, value] : c.fields) keys[name] = Json::parse(value);
    const auto params = Load(keys);
    EXPECT_EQ(params.ok(), c.allowed || !c.in_file) << keys << params.status();
    if (params.ok()) continue;
    EXPECT_THAT(params.status().message(),
                AllOf(HasSubstr("generation_config.json: " + c.name() + " is "),
                      HasSubstr(", must be in ")));
  }
}

TEST_F(GenerationConfigTest, WhatTransformersDoesNotHaveIsNotRead) {
  for (const char* key :
       {"presence_penalty", "frequency_penalty", "top_log_probs"}) {
    const auto params = Load({{key, 7}});
    ASSERT_TRUE(params.ok()) << params.status();
    EXPECT_EQ(params->presence_penalty, 0);
    EXPECT_EQ(params->frequency_penalty, 0);
    EXPECT_EQ(params->top_log_probs, 0);
  }
}

TEST_F(GenerationConfigTest, ListsHaveTheLimitsOfRequests) {
  const std::vector<std::vector<int>> words(4097, {1});
  EXPECT_THAT(Load({{"bad_words_ids", words}}).status().message(),
              HasSubstr("generation_config.json: bad_words has 4097 entries, "
                        "must be 0 to 4096"));
  EXPECT_THAT(Load({{"bad_words_ids", {Json::array()}}}).status().message(),
              HasSubstr("bad_words: an entry has 0 tokens"));
  EXPECT_THAT(
      Load({{"suppress_tokens", std::vector<int>(4097, 1)}}).status().message(),
      HasSubstr("suppress_tokens has 4097 entries, must be 0 to 4096"));
  EXPECT_THAT(Load({{"sequence_bias", {{{1}, 100.5}}}}).status().message(),
              HasSubstr("sequence_bias: a bias is 100.5, must be in [-100, "
                        "100]"));
}

TEST_F(GenerationConfigTest, Lengths) {
  EXPECT_EQ(Load({{"max_length", 9}, {"max_new_tokens", 30}})->max_new_tokens,
            30);
  EXPECT_EQ(Load({{"max_new_tokens", 100000}})->max_new_tokens, 511);
  EXPECT_EQ(Load({{"min_length", 1}})->min_new_tokens, 0);
  EXPECT_EQ(Load({{"min_length", 9}, {"min_new_tokens", 2}})->min_new_tokens,
            2);
  EXPECT_THAT(Load({{"min_new_tokens", 300}}).status().message(),
              HasSubstr("min_new_tokens is 300"));
}

TEST_F(GenerationConfigTest, OldModelsSayItInConfigJson) {
  const auto params =
      LoadGenerationParams(directory_,
                           Config({{"num_beams", 6},
                                   {"max_length", 512},
                                   {"early_stopping", true},
                                   {"bad_words_ids", {{8000}}},
                                   {"bos_token_id", 0},
                                   {"force_bos_token_to_be_generated", true}}),
                           spec_);
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->num_beams, 6);
  EXPECT_EQ(params->max_new_tokens, 511);
  EXPECT_EQ(params->early_stopping, EarlyStopping::kTrue);
  EXPECT_EQ(params->forced_bos_id, 0);
  EXPECT_EQ(params->forced_eos_id, 0);
}

TEST_F(GenerationConfigTest, WrongOrUnsupportedFieldsAreNamed) {
  for (const Json& keys : std::vector<Json>{
           {{"num_beam_groups", 2}},
           {{"diversity_penalty", 0.5}},
           {{"penalty_alpha", 0.6}},
           {{"constraints", {1}}},
           {{"typical_p", 0.9}},
           {{"encoder_repetition_penalty", 1.5}},
           {{"encoder_no_repeat_ngram_size", 2}},
           {{"exponential_decay_length_penalty", {1, 1.1}}},
           {{"suppress_tokens", {3, 8001}}},
           {{"begin_suppress_tokens", {"x"}}},
           {{"sequence_bias", {{{8001}, 1.5}}}},
           {{"sequence_bias", {{{1, 2}, "x"}}}},
           {{"sequence_bias", {{1, 2, 3}}}},
           {{"sequence_bias", {{1, 2}}}},
           {{"force_words_ids", {{3}}}},
           {{"guidance_scale", 2}},
           {{"max_time", 3.5}},
           {{"num_beams", 0}},
           {{"num_beams", "4"}},
           {{"num_beams", 100000}},
           {{"max_length", 1}},
           {{"max_new_tokens", 0}},
           {{"temperature", 0}},
           {{"top_k", -1}},
           {{"top_p", 1.5}},
           {{"min_p", -0.1}},
           {{"repetition_penalty", 0}},
           {{"no_repeat_ngram_size", -1}},
           {{"renormalize_logits", 1}},
           {{"early_stopping", "always"}},
           {{"eos_token_id", 8001}},
           {{"eos_token_id", -1}},
           {{"eos_token_id", {0, "x"}}},
           {{"pad_token_id", 8001}},
           {{"forced_eos_token_id", {0, 1}}},
           {{"forced_bos_token_id", 9000}},
           {{"decoder_start_token_id", 8001}},
           {{"bad_words_ids", {{8001}}}},
           {{"bad_words_ids", {3}}},
           {{"num_return_sequences", 2}},
           {{"do_sample", "yes"}},
           {{"length_penalty", "x"}},
       }) {
    const auto params = Load(keys);
    EXPECT_TRUE(absl::IsInvalidArgument(params.status())) << keys;
    EXPECT_THAT(params.status().message(),
                AllOf(HasSubstr("generation_config.json"),
                      HasSubstr(keys.items().begin().key() + " is ")));
  }
  EXPECT_THAT(Load({{"do_sample", true}, {"num_beams", 2}}).status().message(),
              HasSubstr("num_beams is 2"));
}

TEST_F(GenerationConfigTest, NeutralValuesOfUnsupportedFieldsPass) {
  const auto params = Load({{"num_beam_groups", 1},
                            {"penalty_alpha", nullptr},
                            {"typical_p", 1.0},
                            {"force_words_ids", Json::array()},
                            {"token_healing", false},
                            {"use_cache", true},
                            {"transformers_version", "4.40.0"}});
  EXPECT_TRUE(params.ok()) << params.status();
}

TEST_F(GenerationConfigTest, WithoutAStartThereIsNoGeneration) {
  std::ofstream(directory_ + "/generation_config.json") << "{}";
  EXPECT_THAT(
      LoadGenerationParams(directory_, Config(), spec_).status().message(),
      HasSubstr("decoder_start_token_id is missing"));
  std::ofstream(directory_ + "/generation_config.json")
      << R"({"bos_token_id": 3})";
  EXPECT_EQ(LoadGenerationParams(directory_, Config(), spec_)->decoder_start_id,
            3);
}

}  // namespace
}  // namespace attend
