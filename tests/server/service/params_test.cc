#include "server/service/params.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_tokenizer.h"
#include "tests/support/limit_cases.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

v1::GenerationParams Parse(const std::string& text) {
  v1::GenerationParams params;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &params))
      << text;
  return params;
}

class ParamsTest : public ::testing::Test {
 protected:
  absl::StatusOr<GenerationParams> Merge(const std::string& text) {
    return MergeParams(Parse(text), model_, tokenizer_);
  }

  ModelInfo model_ = FakeEngineOptions().info;
  FakeTokenizer tokenizer_;
};

TEST_F(ParamsTest, AbsentFieldsAreTheModels) {
  model_.generation.num_beams = 4;
  model_.generation.length_penalty = 0.6f;
  model_.generation.bad_words = {{9}};
  const auto params = Merge("");
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->num_beams, 4);
  EXPECT_EQ(params->length_penalty, 0.6f);
  EXPECT_THAT(params->bad_words, ElementsAre(ElementsAre(9)));
}

TEST_F(ParamsTest, EveryFieldOfARequestArrives) {
  model_.generation.bad_words = {{9}};
  model_.generation.sequence_bias = {{{9}, 3}};
  model_.generation.suppress_tokens = {3};
  model_.generation.begin_suppress_tokens = {2};
  model_.continues_source = true;
  const auto params = Merge(R"(
    max_new_tokens: 20 min_new_tokens: 2 num_beams: 4 num_return_sequences: 3
    length_penalty: 0.5 early_stopping: EARLY_STOPPING_NEVER temperature: 0.5
    top_k: 7 top_p: 0.25 min_p: 0.125 seed: 11 repetition_penalty: 1.5
    presence_penalty: 0.5 frequency_penalty: 0.75 no_repeat_ngram_size: 3
    bad_words { ids: 1 ids: 2 } prefix_tokens { ids: 5 } stop_ids: 6
    logit_bias { key: 7 value: -1.5 } logit_bias { key: 4 value: 2 }
    sequence_bias { tokens { ids: 1 ids: 2 } bias: 0.5 }
    suppress_tokens: 4 begin_suppress_tokens: 5
    force_words { alternatives { ids: 4 ids: 5 } alternatives { ids: 6 } }
    force_words { alternatives { ids: 7 } }
    stop_strings: "x" log_probs: true top_log_probs: 4
    prompt_log_probs: true)");
  ASSERT_TRUE(params.ok()) << params.status();
  EXPECT_EQ(params->max_new_tokens, 20);
  EXPECT_EQ(params->min_new_tokens, 2);
  EXPECT_EQ(params->num_beams, 4);
  EXPECT_EQ(params->num_return_sequences, 3);
  EXPECT_EQ(params->length_penalty, 0.5f);
  EXPECT_EQ(params->early_stopping, EarlyStopping::kNever);
  EXPECT_EQ(params->temperature, 0.5f);
  EXPECT_EQ(params->top_k, 7);
  EXPECT_EQ(params->top_p, 0.25f);
  EXPECT_EQ(params->min_p, 0.125f);
  EXPECT_EQ(params->seed, 11u);
  EXPECT_EQ(params->repetition_penalty, 1.5f);
  EXPECT_EQ(params->presence_penalty, 0.5f);
  EXPECT_EQ(params->frequency_penalty, 0.75f);
  EXPECT_EQ(params->no_repeat_ngram_size, 3);
  EXPECT_THAT(params->bad_words,
              ElementsAre(ElementsAre(9), ElementsAre(1, 2)));
  std::vector<std::pair<std::vector<int>, float>> biases;
  for (const SequenceBias& entry : params->sequence_bias) {
    biases.emplace_back(entry.tokens, entry.bias);
  }
  EXPECT_THAT(
      biases,
      ElementsAre(Pair(ElementsAre(9), 3), Pair(ElementsAre(4), 2),
                  Pair(ElementsAre(7), -1.5f), Pair(ElementsAre(1, 2), 0.5f)));
  EXPECT_THAT(params->force_words,
              ElementsAre(ElementsAre(ElementsAre(4, 5), ElementsAre(6)),
                          ElementsAre(ElementsAre(7))));
  EXPECT_THAT(params->suppress_tokens, ElementsAre(3, 4));
  EXPECT_THAT(params->begin_suppress_tokens, ElementsAre(2, 5));
  EXPECT_THAT(params->forced_prefix, ElementsAre(5));
  EXPECT_THAT(params->stop_ids, ElementsAre(6));
  EXPECT_THAT(params->stop_strings, ElementsAre("x"));
  EXPECT_TRUE(params->log_probs);
  EXPECT_EQ(params->top_log_probs, 4);
  EXPECT_TRUE(params->prompt_log_probs);
}

TEST_F(ParamsTest, SamplingTakesThePlaceOfTheModelsBeams) {
  model_.generation.num_beams = 4;
  model_.generation.num_return_sequences = 4;
  EXPECT_EQ(Merge("do_sample: true")->num_beams, 1);
  EXPECT_EQ(Merge("num_beams: 2")->num_return_sequences, 2);
  EXPECT_EQ(
      Merge("do_sample: true num_return_sequences: 8")->num_return_sequences,
      8);
}

TEST_F(ParamsTest, DefaultLengthLeavesRoomForThePrefix) {
  model_.max_target_tokens = 10;
  EXPECT_EQ(Merge("prefix_text: 'abc'")->max_new_tokens, 6);
}

TEST_F(ParamsTest, AsManyNewTokensAsFit) {
  model_.max_target_tokens = 100;
  EXPECT_EQ(Merge("max_new_tokens: 0")->max_new_tokens, 99);
  EXPECT_EQ(Merge("max_new_tokens: 0 prefix_text: 'abc'")->max_new_tokens, 96);
  // Each hypothesis has blocks of its own.
  model_.kv_blocks = 5;
  model_.block_tokens = 16;
  EXPECT_EQ(Merge("max_new_tokens: 0")->max_new_tokens, 79);
  EXPECT_EQ(Merge("max_new_tokens: 0 num_beams: 2")->max_new_tokens, 31);
  EXPECT_EQ(Merge("max_new_tokens: 0 num_beams: 8")->max_new_tokens, 1);
}

TEST_F(ParamsTest, DescriptionOfTheDefaultsMergesToTheDefaults) {
  model_.generation.bad_words = {};
  const GenerationParams& defaults = model_.generation;
  const auto merged = MergeParams(DescribeParams(defaults), model_, tokenizer_);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(merged->max_new_tokens, defaults.max_new_tokens);
  EXPECT_EQ(merged->top_k, defaults.top_k);
  EXPECT_EQ(merged->early_stopping, defaults.early_stopping);
}

TEST_F(ParamsTest, HoldsTheLimitsOfEveryField) {
  model_.max_beams = kMaxBeams;
  model_.max_target_tokens = std::numeric_limits<int>::max();
  for (const LimitCase& c : LimitCases()) {
    std::string text;
    for (const auto& [name, value] : c.fields) {
      absl::StrAppend(&text, name, ": ", value, " ");
    }
    // To the engine that is too few; here it is as many as fit.
    if (text.find("max_new_tokens: 0 ") != std::string::npos) continue;
    const auto params = Merge(text);
    EXPECT_EQ(params.ok(), c.allowed) << text << params.status();
    if (params.ok()) continue;
    EXPECT_THAT(params.status().message(),
                HasSubstr("params." + c.name() + " is "));
  }
}

TEST_F(ParamsTest, ADefaultThatIsMissingIsAnErrorWhereARequestReliesOnIt) {
  using When = MissingDefault::When;
  const struct {
    MissingDefault missing;
    std::vector<const char*> refused;
    std::vector<const char*> accepted;
  } cases[] = {
      {{"temperature", "temperature is 0", When::kSampling},
       {"do_sample: true"},
       {"", "do_sample: true temperature: 0.5", "num_beams: 2"}},
      {{"", "penalty_alpha is 0.6", When::kGreedy},
       {"", "max_new_tokens: 3"},
       {"do_sample: true", "num_beams: 2"}},
      {{"", "dola_layers is \"low\"", When::kNoBeams},
       {"", "do_sample: true"},
       {"num_beams: 2"}},
      {{"length_penalty", "length_penalty is \"x\"", When::kBeams},
       {"num_beams: 2"},
       {"", "num_beams: 2 length_penalty: 0"}},
      {{"num_beams", "num_beams is 0", When::kAlways},
       {"", "do_sample: true"},
       {"num_beams: 1"}},
  };
  for (const auto& c : cases) {
    model_.missing_defaults = {c.missing};
    for (const char* request : c.refused) {
      EXPECT_THAT(Merge(request).status().message(),
                  HasSubstr("the model's default cannot be applied: " +
                            c.missing.message))
          << request;
    }
    for (const char* request : c.accepted) {
      EXPECT_TRUE(Merge(request).ok())
          << request << Merge(request).status() << c.missing.message;
    }
  }
}

TEST_F(ParamsTest, TheModelsMaxLengthCountsThePrompt) {
  model_.max_target_tokens = 100;
  model_.max_length = 30;
  model_.min_length = 12;
  const auto fit = [&](const std::string& text, int known) {
    GenerationParams params = *Merge(text);
    const absl::Status status = FitLengths(Parse(text), model_, known, params);
    return status.ok() ? absl::StatusOr<GenerationParams>(params) : status;
  };
  EXPECT_EQ(fit("", 9)->max_new_tokens, 21);
  EXPECT_EQ(fit("", 9)->min_new_tokens, 3);
  EXPECT_EQ(fit("", 20)->min_new_tokens, 0);
  EXPECT_EQ(fit("max_new_tokens: 80", 9)->max_new_tokens, 80);
  EXPECT_EQ(fit("max_new_tokens: 7", 40)->max_new_tokens, 7);
  EXPECT_THAT(fit("", 30).status().message(),
              HasSubstr("prompt has 30 tokens, the model's default max_length "
                        "is 30"));
}

// One row a field and way to be wrong.
TEST_F(ParamsTest, AWrongFieldIsNamedWithItsValue) {
  model_.max_beams = 8;
  model_.max_target_tokens = 100;
  model_.target_vocab = 50;
  const std::string many_words = [] {
    std::string text;
    for (int i = 0; i < 4097; ++i) text += "bad_words { ids: 1 } ";
    return text;
  }();
  const auto repeat = [](const char* text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  const struct {
    std::string params;
    const char* message;
  } cases[] = {
      {"max_new_tokens: -1", "params.max_new_tokens is -1"},
      {"max_new_tokens: 100",
       "params.max_new_tokens is 100, must be in [1, 99]"},
      {"min_new_tokens: -1", "params.min_new_tokens is -1"},
      {"max_new_tokens: 5 min_new_tokens: 6", "params.min_new_tokens is 6"},
      {"num_beams: 0", "params.num_beams is 0"},
      {"num_beams: 9", "params.num_beams is 9, must be in [1, 8]"},
      {"num_return_sequences: 0", "params.num_return_sequences is 0"},
      {"num_return_sequences: 2", "params.num_return_sequences is 2"},
      {"num_beams: 2 num_return_sequences: 3", "num_return_sequences is 3"},
      {"num_beams: 2 do_sample: true", "params.do_sample is true"},
      {"do_sample: true num_return_sequences: 9", "num_return_sequences is 9"},
      {"length_penalty: nan", "params.length_penalty is nan"},
      {"early_stopping: 4", "params.early_stopping is 4"},
      {"temperature: nan", "params.temperature is nan"},
      {"temperature: inf", "params.temperature is inf"},
      {"top_p: nan", "params.top_p is nan"},
      {"repetition_penalty: nan", "params.repetition_penalty is nan"},
      {"presence_penalty: -inf", "params.presence_penalty is -inf"},
      {"frequency_penalty: nan", "params.frequency_penalty is nan"},
      {many_words, "params.bad_words has 4097 entries"},
      {"bad_words {}", "params.bad_words[0] has 0 tokens"},
      {"bad_words {" + repeat("ids: 1 ", 65) + "}",
       "params.bad_words[0] has 65 tokens"},
      {"bad_words { ids: 1 } bad_words { ids: 50 }",
       "params.bad_words[1].ids[0] is 50"},
      {"logit_bias { key: 50 value: 1 }", "params.logit_bias has id 50"},
      {"logit_bias { key: -1 value: 1 }", "params.logit_bias has id -1"},
      {"logit_bias { key: 1 value: nan }", "params.logit_bias[1] is nan"},
      {"logit_bias { key: 1 value: 101 }",
       "params.logit_bias[1] is 101, must be in [-100, 100]"},
      {"sequence_bias { bias: 1 }", "params.sequence_bias[0] has 0 tokens"},
      {"sequence_bias { tokens { ids: 50 } bias: 1 }",
       "params.sequence_bias[0].tokens.ids[0] is 50"},
      {"sequence_bias { tokens { ids: 1 } bias: -inf }",
       "params.sequence_bias: a bias is -inf"},
      {repeat("sequence_bias { tokens { ids: 1 } bias: 1 } ", 4097),
       "params.sequence_bias has 4097 entries"},
      {"force_words {}", "params.force_words[0] has 0 alternatives"},
      {"force_words { alternatives {} }",
       "params.force_words[0].alternatives[0] has 0 tokens"},
      {"force_words { alternatives { ids: 1 } alternatives { ids: 50 } }",
       "params.force_words[0].alternatives[1].ids[0] is 50"},
      {repeat("force_words { alternatives { ids: 1 } } ", 65),
       "params.force_words has 65 entries"},
      {"suppress_tokens: 1 suppress_tokens: 50",
       "params.suppress_tokens[1] is 50"},
      {repeat("begin_suppress_tokens: 1 ", 4097),
       "params.begin_suppress_tokens has 4097 entries"},
      {"bad_words { ids: 1 attention_mask: 1 }",
       "params.bad_words[0].attention_mask"},
      {"prefix_tokens { ids: -1 }", "params.prefix_tokens.ids[0] is -1"},
      {"prefix_tokens { ids: 1 attention_mask: 1 }",
       "params.prefix_tokens.attention_mask has 1 values"},
      {"prefix_tokens {" + repeat("ids: 1 ", 99) + "}",
       "forced prefix has 99 tokens, limit is 98"},
      {"prefix_text: '\\001'", "params.prefix_text: text has 0x01"},
      {repeat("stop_ids: 1 ", 65), "params.stop_ids has 65 entries"},
      {"stop_ids: 50", "params.stop_ids[0] is 50"},
      {repeat("stop_strings: 'a' ", 17), "params.stop_strings has 17 entries"},
      {"stop_strings: ''", "params.stop_strings[0] has 0 bytes"},
      {"stop_strings: '" + std::string(257, 'a') + "'",
       "params.stop_strings[0] has 257 bytes"},
  };
  for (const auto& c : cases) {
    const auto params = Merge(c.params);
    ASSERT_FALSE(params.ok()) << c.params;
    EXPECT_EQ(params.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(params.status().message(), HasSubstr(c.message));
  }
}

TEST(CheckPriorityTest, HasLimitsOnBothSides) {
  EXPECT_TRUE(CheckPriority(10).ok());
  EXPECT_TRUE(CheckPriority(-10).ok());
  EXPECT_THAT(CheckPriority(11).message(), HasSubstr("priority is 11"));
  EXPECT_THAT(CheckPriority(-11).message(), HasSubstr("priority is -11"));
}

}  // namespace
}  // namespace attend
