#include "engine/decoding/validate_params.h"

#include <functional>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/limit_cases.h"

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
  EXPECT_TRUE(ValidateParams({}, 1, kLimits).ok());
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
  EXPECT_TRUE(ValidateParams(params, 1, kLimits).ok());
}

TEST(ValidateParamsTest, HoldsTheLimitsOfEveryField) {
  const DecodingLimits widest = {
      .vocab = 100,
      .max_target_tokens = std::numeric_limits<int>::max(),
      .max_beams = kMaxBeams};
  for (const LimitCase& c : LimitCases()) {
    const absl::Status status = ValidateParams(c.params, 1, widest);
    EXPECT_EQ(status.ok(), c.allowed) << c.fields.back().second << status;
    if (status.ok()) continue;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.name() + " is "));
  }
}

TEST(ValidateParamsTest, NamesFieldValueAndLimit) {
  using P = GenerationParams;
  const Case cases[] = {
      {"max_new_tokens", "512", "511", [](P& p) { p.max_new_tokens = 512; }},
      {"max_new_tokens", "508", "507",
       [](P& p) {
         p.max_new_tokens = 508;
         p.forced_prefix = {1, 2, 3, 4};
       }},
      {"forced_prefix", "511", "510",
       [](P& p) { p.forced_prefix.assign(511, 1); }},
      {"forced_prefix", "100", "100", [](P& p) { p.forced_prefix = {100}; }},
      {"min_new_tokens", "257", "256", [](P& p) { p.min_new_tokens = 257; }},
      {"num_beams", "9", "8", [](P& p) { p.num_beams = 9; }},
      {"num_beams", "2", "do_sample",
       [](P& p) {
         p.num_beams = 2;
         p.do_sample = true;
       }},
      {"num_return_sequences", "9", "8",
       [](P& p) {
         p.num_return_sequences = 9;
         p.do_sample = true;
       }},
      {"num_return_sequences", "3", "2",
       [](P& p) {
         p.num_return_sequences = 3;
         p.num_beams = 2;
       }},
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
      {"eos_ids and stop_ids", "100", "100",
       [](P& p) {
         p.num_beams = 2;
         p.eos_ids.assign(50, 1);
         p.stop_ids.assign(50, 1);
       }},
      {"force_words", "num_beams is 1", "above 1",
       [](P& p) { p.force_words = {{{1}}}; }},
      {"force_words", "100", "100",
       [](P& p) {
         p.num_beams = 2;
         p.force_words = {{{1}, {2, 100}}};
       }},
      {"force_words", "alternative 1", "begins with alternative 0",
       [](P& p) {
         p.num_beams = 2;
         p.force_words = {{{1, 2}, {1, 2, 3}}};
       }},
      {"force_words", "stop_strings", "only one of both",
       [](P& p) {
         p.num_beams = 2;
         p.force_words = {{{1}}};
         p.stop_strings = {"x"};
       }},
      {"decoder_start_id", "100", "100",
       [](P& p) { p.decoder_start_id = 100; }},
      {"decoder_start_id", "-1", "100", [](P& p) { p.decoder_start_id = -1; }},
      {"pad_id", "-2", "100", [](P& p) { p.pad_id = -2; }},
      {"forced_bos_id", "100", "100", [](P& p) { p.forced_bos_id = 100; }},
      {"forced_eos_id", "100", "100", [](P& p) { p.forced_eos_id = 100; }},
  };
  for (const Case& test : cases) {
    GenerationParams params;
    test.change(params);
    const absl::Status status = ValidateParams(params, 1, kLimits);
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
  EXPECT_FALSE(ValidateParams(params, 1, small).ok());
  params.stop_ids = {1};
  EXPECT_TRUE(ValidateParams(params, 1, small).ok());
}

TEST(ValidateParamsTest, TopLogProbsFitTheVocabulary) {
  GenerationParams params;
  params.top_log_probs = 4;
  EXPECT_FALSE(
      ValidateParams(params, 1,
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
      HasSubstr("513 tokens, must be 1 to 512"));
  EXPECT_THAT(std::string(ValidateTarget({1}, 21, 1, kLimits).message()),
              HasSubstr("top_log_probs"));
}

}  // namespace
}  // namespace attend
