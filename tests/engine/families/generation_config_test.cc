#include "engine/families/shared/generation_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/api/generation_limits.h"
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
    auto defaults = LoadAll(std::move(keys));
    if (!defaults.ok()) return defaults.status();
    return std::move(defaults->params);
  }
  absl::StatusOr<GenerationDefaults> LoadAll(Json keys) {
    keys.emplace("decoder_start_token_id", 8000);  // unless it is there
    std::ofstream(directory_ + "/generation_config.json") << keys.dump();
    return LoadGenerationDefaults(directory_, Config(), spec_);
  }
  // Of the same file beside a decoder alone.
  GenerationDefaults OfDecoder(const Json& keys) {
    std::ofstream(directory_ + "/generation_config.json") << keys.dump();
    const JsonFile config = FixtureConfig("gpt2-gelu");
    const auto defaults =
        LoadGenerationDefaults(directory_, config, LoadFamily(config)->spec);
    EXPECT_TRUE(defaults.ok()) << keys << defaults.status();
    return defaults.ok() ? *defaults : GenerationDefaults();
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

// As transformers does where a section has the decoder's configuration.
TEST_F(GenerationConfigTest, TheDecodersSectionHasWhatIsNotOutside) {
  const JsonFile config =
      FixtureConfig("bert2bert", {{"eos_token_id", nullptr},
                                  {"num_beams", 2},
                                  {"decoder",
                                   {{"model_type", "bert"},
                                    {"eos_token_id", 5},
                                    {"num_beams", 4},
                                    {"decoder_start_token_id", 9},
                                    {"no_repeat_ngram_size", 3}}}});
  const auto defaults = LoadGenerationDefaults(directory_, config, spec_);
  ASSERT_TRUE(defaults.ok()) << defaults.status();
  const GenerationParams& params = defaults->params;
  EXPECT_THAT(params.eos_ids, ElementsAre(5));
  EXPECT_EQ(params.num_beams, 2);
  EXPECT_EQ(params.decoder_start_id, 1);
  EXPECT_EQ(params.no_repeat_ngram_size, 3);
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
    const auto defaults = LoadAll(keys);
    ASSERT_TRUE(defaults.ok()) << keys << defaults.status();
    EXPECT_TRUE(CheckLimits(defaults->params).ok());
    if (!c.in_file || defaults->missing.empty()) continue;
    EXPECT_FALSE(c.allowed) << keys;
    EXPECT_EQ(defaults->missing[0].field, c.name());
    EXPECT_THAT(defaults->missing[0].message,
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
  const auto missing = [&](const Json& keys) {
    const auto defaults = LoadAll(keys);
    EXPECT_EQ(defaults->missing.size(), 1u) << keys;
    return defaults->missing.empty() ? "" : defaults->missing[0].message;
  };
  EXPECT_THAT(
      missing({{"bad_words_ids", std::vector<std::vector<int>>(4097, {1})}}),
      HasSubstr("generation_config.json: bad_words has 4097 entries, "
                "must be 0 to 4096"));
  EXPECT_THAT(missing({{"suppress_tokens", std::vector<int>(4097, 1)}}),
              HasSubstr("suppress_tokens has 4097 entries, must be 0 to 4096"));
  EXPECT_THAT(missing({{"sequence_bias", {{{1}, 100.5}}}}),
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
  // generate() forbids the end as long as there are tokens.
  EXPECT_EQ(Load({{"min_new_tokens", 300}})->min_new_tokens, 256);
}

TEST_F(GenerationConfigTest, TheLengthsOfADecoderCountThePrompt) {
  const GenerationDefaults lengths =
      OfDecoder({{"max_length", 30}, {"min_length", 9}});
  EXPECT_EQ(lengths.max_length, 30);
  EXPECT_EQ(lengths.min_length, 9);
  const GenerationDefaults tokens = OfDecoder({{"max_length", 30},
                                               {"max_new_tokens", 7},
                                               {"min_length", 9},
                                               {"min_new_tokens", 2}});
  EXPECT_EQ(tokens.max_length, 0);
  EXPECT_EQ(tokens.params.max_new_tokens, 7);
  EXPECT_EQ(tokens.min_length, 0);
  EXPECT_EQ(tokens.params.min_new_tokens, 2);
  EXPECT_EQ(LoadAll({{"max_length", 30}})->max_length, 0);
}

TEST_F(GenerationConfigTest, OldModelsSayItInConfigJson) {
  const auto defaults = LoadGenerationDefaults(
      directory_,
      Config({{"num_beams", 6},
              {"max_length", 512},
              {"early_stopping", true},
              {"bad_words_ids", {{8000}}},
              {"bos_token_id", 0},
              {"force_bos_token_to_be_generated", true}}),
      spec_);
  ASSERT_TRUE(defaults.ok()) << defaults.status();
  const GenerationParams& params = defaults->params;
  EXPECT_EQ(params.num_beams, 6);
  EXPECT_EQ(params.max_new_tokens, 511);
  EXPECT_EQ(params.early_stopping, EarlyStopping::kTrue);
  EXPECT_EQ(params.forced_bos_id, 0);
  EXPECT_EQ(params.forced_eos_id, 0);
}

// What generate() of transformers 5.23 does with a field of GPT-2's file
// decides what a request gets: kPlain: what it gets without the field;
// kRefused: an error, which here only requests get that rely on the field.
enum class Outcome { kPlain, kRefused };
struct OddField {
  Json keys;
  Outcome greedy;
  Outcome sampling;
};

std::vector<OddField> OddFields() {
  constexpr Outcome kPlain = Outcome::kPlain;
  constexpr Outcome kRefused = Outcome::kRefused;
  return {
      {{{"temperature", 0}}, kPlain, kRefused},
      {{{"temperature", "0.7"}}, kPlain, kRefused},
      {{{"top_p", -1}}, kPlain, kRefused},
      {{{"top_p", 1.5}}, kPlain, kPlain},
      {{{"top_k", -1}}, kPlain, kPlain},
      {{{"min_p", 2}}, kPlain, kRefused},
      {{{"typical_p", 0.9}}, kPlain, kRefused},
      {{{"typical_p", 1.5}}, kPlain, kPlain},
      {{{"epsilon_cutoff", 0.1}}, kPlain, kRefused},
      {{{"epsilon_cutoff", 3}}, kPlain, kPlain},
      {{{"eta_cutoff", 0.1}}, kPlain, kRefused},
      {{{"top_h", 0.4}}, kPlain, kRefused},
      {{{"max_time", 30}}, kPlain, kPlain},
      {{{"pad_token_id", -1}}, kPlain, kPlain},
      {{{"pad_token_id", 1000}}, kPlain, kPlain},
      {{{"eos_token_id", 1000}}, kPlain, kPlain},
      {{{"eos_token_id", -1}}, kPlain, kPlain},
      {{{"eos_token_id", "x"}}, kRefused, kRefused},
      {{{"bos_token_id", 1000}}, kPlain, kPlain},
      {{{"decoder_start_token_id", 1000}}, kPlain, kPlain},
      {{{"max_new_tokens", 0}}, kRefused, kRefused},
      {{{"max_length", 1}}, kRefused, kRefused},
      {{{"min_length", -1}}, kPlain, kPlain},
      {{{"min_new_tokens", -3}}, kPlain, kPlain},
      {{{"num_beams", 0}}, kRefused, kRefused},
      {{{"num_beams", "4"}}, kRefused, kRefused},
      {{{"length_penalty", "x"}}, kPlain, kPlain},
      {{{"num_return_sequences", 0}}, kPlain, kPlain},
      {{{"num_beam_groups", 2}}, kPlain, kPlain},
      {{{"diversity_penalty", 0.5}}, kPlain, kPlain},
      {{{"penalty_alpha", 0.6}}, kRefused, kPlain},
      {{{"penalty_alpha", 0.6}, {"top_k", 1}}, kPlain, kPlain},
      {{{"dola_layers", "low"}}, kRefused, kRefused},
      {{{"constraints", {1}}}, kRefused, kRefused},
      {{{"force_words_ids", {{3}}}}, kRefused, kRefused},
      {{{"encoder_repetition_penalty", 1.5}}, kRefused, kRefused},
      {{{"encoder_no_repeat_ngram_size", 2}}, kPlain, kPlain},
      {{{"encoder_no_repeat_ngram_size", -2}}, kPlain, kPlain},
      {{{"encoder_no_repeat_ngram_size", "x"}}, kRefused, kRefused},
      {{{"exponential_decay_length_penalty", {1, 1.1}}}, kRefused, kRefused},
      {{{"guidance_scale", 2}}, kRefused, kRefused},
      {{{"guidance_scale", 1.0}}, kPlain, kPlain},
      {{{"watermarking_config", {{"bias", 2.0}}}}, kRefused, kRefused},
      {{{"token_healing", true}}, kRefused, kRefused},
      {{{"token_healing", false}}, kPlain, kPlain},
      {{{"forced_decoder_ids", {{1, 3}}}}, kPlain, kPlain},
      {{{"repetition_penalty", 0}}, kRefused, kRefused},
      {{{"no_repeat_ngram_size", -1}}, kPlain, kPlain},
      {{{"renormalize_logits", 1}}, kPlain, kPlain},
      {{{"remove_invalid_values", true}}, kPlain, kPlain},
      {{{"suppress_tokens", {1000, -1}}}, kPlain, kPlain},
      {{{"begin_suppress_tokens", {1000}}}, kPlain, kPlain},
      {{{"begin_suppress_tokens", {"x"}}}, kRefused, kRefused},
      {{{"bad_words_ids", {{1000}}}}, kRefused, kRefused},
      {{{"bad_words_ids", {3}}}, kRefused, kRefused},
      {{{"bad_words_ids", {Json::array()}}}, kPlain, kPlain},
      {{{"sequence_bias", {{{1000}, 1.5}}}}, kRefused, kRefused},
      {{{"sequence_bias", {{{1, 2}, "x"}}}}, kRefused, kRefused},
      {{{"forced_eos_token_id", 1000}}, kRefused, kRefused},
      {{{"forced_eos_token_id", {0, 1}}}, kRefused, kRefused},
      {{{"prompt_lookup_num_tokens", 3}}, kPlain, kPlain},
      {{{"cache_implementation", "hybrid"}}, kPlain, kPlain},
      {{{"use_cache", false}}, kPlain, kPlain},
      {{{"output_scores", true}}, kPlain, kPlain},
      {{{"num_beams", nullptr}}, kPlain, kPlain},
  };
}

TEST_F(GenerationConfigTest, NgramsOfTheSource) {
  const auto size = [&](const Json& value) {
    return OfDecoder({{"encoder_no_repeat_ngram_size", value}})
        .source_ngram_size;
  };
  EXPECT_EQ(size(3), 3);
  EXPECT_EQ(size(-3), 0);
  EXPECT_EQ(size(nullptr), 0);
}

TEST_F(GenerationConfigTest, OddFieldsConcernTheRequestsThatRelyOnThem) {
  using When = MissingDefault::When;
  for (const OddField& odd : OddFields()) {
    const GenerationDefaults defaults = OfDecoder(odd.keys);
    const auto outcome = [&](const std::vector<When>& whens) {
      for (const MissingDefault& missing : defaults.missing) {
        EXPECT_THAT(missing.message, HasSubstr("generation_config.json: "));
        for (const When when : whens) {
          if (missing.when == when) return Outcome::kRefused;
        }
      }
      return Outcome::kPlain;
    };
    EXPECT_EQ(outcome({When::kAlways, When::kGreedy, When::kNoBeams}),
              odd.greedy)
        << odd.keys;
    EXPECT_EQ(outcome({When::kAlways, When::kSampling, When::kNoBeams}),
              odd.sampling)
        << odd.keys;
    EXPECT_TRUE(CheckLimits(defaults.params).ok()) << odd.keys;
  }
}

TEST_F(GenerationConfigTest, OddFieldsOfBeamSearch) {
  using When = MissingDefault::When;
  for (const Json& keys : std::vector<Json>{{{"length_penalty", "x"}},
                                            {{"length_penalty", 11}},
                                            {{"early_stopping", "always"}},
                                            {{"num_beam_groups", 2}}}) {
    const GenerationDefaults defaults = OfDecoder(keys);
    ASSERT_EQ(defaults.missing.size(), 1u) << keys;
    EXPECT_EQ(defaults.missing[0].when, When::kBeams) << keys;
    EXPECT_EQ(defaults.warnings.size(), 1u);
  }
}

TEST_F(GenerationConfigTest, ValuesThatMeanOthers) {
  EXPECT_EQ(OfDecoder({{"max_new_tokens", 20.0}}).params.max_new_tokens, 20);
  EXPECT_THAT(OfDecoder({{"eos_token_id", {2, 1000, 3}}}).params.eos_ids,
              ElementsAre(2, 3));
  EXPECT_THAT(OfDecoder({{"eos_token_id", 2.0}}).params.eos_ids,
              ElementsAre(2));
  EXPECT_EQ(OfDecoder({{"top_k", -1}}).params.top_k, 0);
  EXPECT_EQ(OfDecoder({{"top_p", 1.5}}).params.top_p, 1);
  // The likeliest token alone, as with every share below its own.
  const GenerationParams none = OfDecoder({{"top_p", 0}}).params;
  EXPECT_GT(none.top_p, 0);
  EXPECT_LT(none.top_p, 1e-30);
  EXPECT_TRUE(OfDecoder({{"do_sample", 1}}).params.do_sample);
  EXPECT_TRUE(OfDecoder({{"do_sample", "yes"}}).params.do_sample);
  EXPECT_EQ(OfDecoder({{"early_stopping", 1}}).params.early_stopping,
            EarlyStopping::kTrue);
  EXPECT_FALSE(
      OfDecoder({{"renormalize_logits", 1}}).params.renormalize_logits);
  const GenerationDefaults both =
      OfDecoder({{"do_sample", true}, {"num_beams", 4}});
  EXPECT_TRUE(both.params.do_sample);
  EXPECT_EQ(both.params.num_beams, 4);
  EXPECT_THAT(both.warnings,
              ElementsAre(HasSubstr("num_beams is 4 and do_sample is true")));
}

TEST_F(GenerationConfigTest, NeutralValuesOfUnsupportedFieldsPass) {
  const auto defaults = LoadAll({{"num_beam_groups", 1},
                                 {"penalty_alpha", nullptr},
                                 {"typical_p", 1.0},
                                 {"force_words_ids", Json::array()},
                                 {"token_healing", false},
                                 {"use_cache", true},
                                 {"transformers_version", "4.40.0"}});
  ASSERT_TRUE(defaults.ok()) << defaults.status();
  EXPECT_TRUE(defaults->missing.empty());
  EXPECT_TRUE(defaults->warnings.empty());
}

TEST_F(GenerationConfigTest, WithoutAStartThereIsNoGeneration) {
  std::ofstream(directory_ + "/generation_config.json") << "{}";
  EXPECT_THAT(
      LoadGenerationDefaults(directory_, Config(), spec_).status().message(),
      HasSubstr("decoder_start_token_id is missing"));
  std::ofstream(directory_ + "/generation_config.json")
      << R"({"bos_token_id": 3})";
  EXPECT_EQ(LoadGenerationDefaults(directory_, Config(), spec_)
                ->params.decoder_start_id,
            3);
  EXPECT_THAT(Load({{"decoder_start_token_id", 8001}}).status().message(),
              HasSubstr("decoder_start_token_id is 8001"));
}

}  // namespace
}  // namespace attend
