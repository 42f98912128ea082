#include "engine/decoding/validate_params.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr DecodingLimits kLimits = {
    .vocab = 100, .max_target_tokens = 512, .max_beams = 8};

struct Case {
  std::string field;  // the message names it,
  std::string value;  // its value
  std::string limit;  // and its limit
  std::function<void(GenerationParams&)> change;
};

TEST(ValidateParamsTest, DefaultsAndBordersAreFine) {
  EXPECT_TRUE(ValidateParams({}, kLimits).ok());
  GenerationParams params;
  params.forced_prefix.assign(400, 99);
  params.max_new_tokens = params.min_new_tokens = 111;
  params.num_beams = params.num_return_sequences = 8;
  params.length_penalty = -10;
  params.temperature = params.repetition_penalty = 100;
  params.top_k = 0;
  params.min_p = 1;
  params.bad_words = {{99}, {0, 1}};
  params.eos_ids = {0};
  params.stop_ids = {99};
  params.stop_strings = {std::string(256, 'a')};
  params.forced_eos_id = 99;
  params.top_log_probs = 20;
  EXPECT_TRUE(ValidateParams(params, kLimits).ok());
}

TEST(ValidateParamsTest, NamesFieldValueAndLimit) {
  using P = GenerationParams;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Case cases[] = {
      {"max_new_tokens", "0", "[1, 511]", [](P& p) { p.max_new_tokens = 0; }},
      {"max_new_tokens", "512", "[1, 511]",
       [](P& p) { p.max_new_tokens = 512; }},
      {"max_new_tokens", "508", "[1, 507]",
       [](P& p) {
         p.max_new_tokens = 508;
         p.forced_prefix = {1, 2, 3, 4};
       }},
      {"forced_prefix", "511", "510",
       [](P& p) { p.forced_prefix.assign(511, 1); }},
      {"forced_prefix", "100", "100", [](P& p) { p.forced_prefix = {100}; }},
      {"min_new_tokens", "-1", "[0, 256]", [](P& p) { p.min_new_tokens = -1; }},
      {"min_new_tokens", "257", "[0, 256]",
       [](P& p) { p.min_new_tokens = 257; }},
      {"num_beams", "0", "[1, 8]", [](P& p) { p.num_beams = 0; }},
      {"num_beams", "9", "[1, 8]", [](P& p) { p.num_beams = 9; }},
      {"num_beams", "2", "do_sample",
       [](P& p) {
         p.num_beams = 2;
         p.do_sample = true;
       }},
      {"num_return_sequences", "0", "[1, 8]",
       [](P& p) { p.num_return_sequences = 0; }},
      {"num_return_sequences", "9", "[1, 8]",
       [](P& p) {
         p.num_return_sequences = 9;
         p.do_sample = true;
       }},
      {"num_return_sequences", "3", "2",
       [](P& p) {
         p.num_return_sequences = 3;
         p.num_beams = 2;
       }},
      {"length_penalty", "10.5", "[-10, 10]",
       [](P& p) { p.length_penalty = 10.5; }},
      {"length_penalty", "nan", "[-10, 10]",
       [=](P& p) { p.length_penalty = kNan; }},
      {"early_stopping", "3", "[0, 2]",
       [](P& p) { p.early_stopping = static_cast<EarlyStopping>(3); }},
      {"temperature", "0", "(0, 100]", [](P& p) { p.temperature = 0; }},
      {"temperature", "nan", "(0, 100]", [=](P& p) { p.temperature = kNan; }},
      {"temperature", "inf", "(0, 100]", [=](P& p) { p.temperature = kInf; }},
      {"top_k", "-1", "[0, ", [](P& p) { p.top_k = -1; }},
      {"top_p", "0", "(0, 1]", [](P& p) { p.top_p = 0; }},
      {"top_p", "1.5", "(0, 1]", [](P& p) { p.top_p = 1.5; }},
      {"top_p", "nan", "(0, 1]", [=](P& p) { p.top_p = kNan; }},
      {"min_p", "-0.5", "[0, 1]", [](P& p) { p.min_p = -0.5; }},
      {"min_p", "nan", "[0, 1]", [=](P& p) { p.min_p = kNan; }},
      {"repetition_penalty", "0", "(0, 100]",
       [](P& p) { p.repetition_penalty = 0; }},
      {"repetition_penalty", "nan", "(0, 100]",
       [=](P& p) { p.repetition_penalty = kNan; }},
      {"presence_penalty", "inf", "[-100, 100]",
       [=](P& p) { p.presence_penalty = kInf; }},
      {"frequency_penalty", "nan", "[-100, 100]",
       [=](P& p) { p.frequency_penalty = kNan; }},
      {"no_repeat_ngram_size", "-1", "[0, 1000]",
       [](P& p) { p.no_repeat_ngram_size = -1; }},
      {"bad_words", "4097", "4096",
       [](P& p) { p.bad_words.assign(4097, {1}); }},
      {"bad_words", "0", "[1, 64]", [](P& p) { p.bad_words = {{}}; }},
      {"bad_words", "100", "100",
       [](P& p) {
         p.bad_words = {{1, 100}};
       }},
      {"bad_words", "-1", "100", [](P& p) { p.bad_words = {{-1}}; }},
      {"eos_ids", "100", "100",
       [](P& p) {
         p.eos_ids = {1, 100};
       }},
      {"stop_ids", "-2", "100", [](P& p) { p.stop_ids = {-2}; }},
      {"stop_ids", "65", "64", [](P& p) { p.stop_ids.assign(65, 1); }},
      {"eos_ids and stop_ids", "100", "100",
       [](P& p) {
         p.num_beams = 2;
         p.eos_ids.assign(50, 1);
         p.stop_ids.assign(50, 1);
       }},
      {"stop_strings", "17", "16",
       [](P& p) { p.stop_strings.assign(17, "a"); }},
      {"stop_strings", "0", "[1, 256]", [](P& p) { p.stop_strings = {""}; }},
      {"stop_strings", "257", "[1, 256]",
       [](P& p) { p.stop_strings = {std::string(257, 'a')}; }},
      {"decoder_start_id", "100", "100",
       [](P& p) { p.decoder_start_id = 100; }},
      {"decoder_start_id", "-1", "100", [](P& p) { p.decoder_start_id = -1; }},
      {"pad_id", "-2", "100", [](P& p) { p.pad_id = -2; }},
      {"forced_bos_id", "100", "100", [](P& p) { p.forced_bos_id = 100; }},
      {"forced_eos_id", "100", "100", [](P& p) { p.forced_eos_id = 100; }},
      {"top_log_probs", "21", "[0, 20]", [](P& p) { p.top_log_probs = 21; }},
  };
  for (const Case& test : cases) {
    GenerationParams params;
    test.change(params);
    const absl::Status status = ValidateParams(params, kLimits);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << test.field;
    const std::string message(status.message());
    EXPECT_THAT(message, HasSubstr(test.field));
    EXPECT_THAT(message, HasSubstr(test.value));
    EXPECT_THAT(message, HasSubstr(test.limit));
  }
}

TEST(ValidateParamsTest, BeamsNeedEnoughCandidatesInTheVocabulary) {
  GenerationParams params;
  params.num_beams = 4;
  params.eos_ids = {0};
  params.stop_ids = {1, 2};
  const DecodingLimits small = {
      .vocab = 3, .max_target_tokens = 512, .max_beams = 8};
  EXPECT_FALSE(ValidateParams(params, small).ok());
  params.stop_ids = {1};
  EXPECT_TRUE(ValidateParams(params, small).ok());
}

TEST(ValidateParamsTest, TopLogProbsFitTheVocabulary) {
  GenerationParams params;
  params.top_log_probs = 4;
  EXPECT_FALSE(
      ValidateParams(params,
                     {.vocab = 3, .max_target_tokens = 512, .max_beams = 1})
          .ok());
}

TEST(ValidateParamsTest, Target) {
  EXPECT_TRUE(ValidateTarget(std::vector<int>(512, 99), 20, 1, kLimits).ok());
  EXPECT_THAT(std::string(ValidateTarget({3, 100}, 0, 1, kLimits).message()),
              HasSubstr("target has token id 100"));
  EXPECT_THAT(
      std::string(
          ValidateTarget(std::vector<int>(513, 1), 0, 1, kLimits).message()),
      HasSubstr("513, must be in [1, 512]"));
  EXPECT_THAT(std::string(ValidateTarget({1}, 21, 1, kLimits).message()),
              HasSubstr("top_log_probs"));
}

}  // namespace
}  // namespace attend
