#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/decoding/search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"
#include "tests/engine/decoding/naive_processors.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

constexpr int kVocab = 17;

SequenceOutput RunSearch(const GenerationParams& params,
                         const FakeModel& model) {
  const auto search = MakeSearch({params, PromptOf(params), model.vocab()});
  while (search->rows() > 0) model.Step(*search);
  EXPECT_TRUE(search->output().finished);
  return search->output();
}

TEST(SamplingSearchTest, GreedyEqualsTheNaiveSearch) {
  for (int seed = 0; seed < 64; ++seed) {
    GenerationParams params;
    params.max_new_tokens = 10;
    params.eos_ids = {2};
    params.decoder_start_id = 1;
    params.bad_words = {{1}, {5, 6}};
    if (seed & 1) params.repetition_penalty = 1.5;
    if (seed & 2) params.no_repeat_ngram_size = 1;
    if (seed & 4) params.min_new_tokens = 6;
    if (seed & 8) params.forced_prefix = {4, 4};
    if (seed & 16) params.forced_bos_id = 3;
    if (seed & 32) params.forced_eos_id = 2;
    const FakeModel model(kVocab, seed);
    std::vector<int> tokens = {1};
    tokens.insert(tokens.end(), params.forced_prefix.begin(),
                  params.forced_prefix.end());
    const size_t prompt = tokens.size();
    do {
      const std::vector<float> scores =
          NaiveProcess(params, tokens, model.Logits(tokens));
      tokens.push_back(static_cast<int>(
          std::max_element(scores.begin(), scores.end()) - scores.begin()));
    } while (tokens.back() != 2 && tokens.size() < prompt + 10);
    const ChoiceOutput choice = RunSearch(params, model).choices[0];
    EXPECT_EQ(choice.tokens,
              std::vector<int>(tokens.begin() + prompt, tokens.end()));
    EXPECT_EQ(choice.finish, tokens.back() == 2 ? FinishReason::kEos
                                                : FinishReason::kMaxLength);
    EXPECT_TRUE(choice.log_probs.empty());
    EXPECT_EQ(choice.score, 0);
  }
}

TEST(SamplingSearchTest, LogProbsAreRawAndSummed) {
  GenerationParams params;
  params.max_new_tokens = 6;
  params.bad_words = {{1}, {2}, {3}};
  params.do_sample = true;
  params.temperature = 0.5;
  params.log_probs = true;
  params.top_log_probs = 2;
  const FakeModel model(kVocab, 8);
  const ChoiceOutput choice = RunSearch(params, model).choices[0];
  std::vector<int> tokens = {0};
  float sum = 0;
  for (size_t i = 0; i < 6; ++i) {
    const std::vector<float> expected = LogSoftmax(model.Logits(tokens));
    EXPECT_NEAR(choice.log_probs[i], expected[choice.tokens[i]], 1e-5);
    EXPECT_NEAR(choice.top[2 * i].log_prob,
                *std::max_element(expected.begin(), expected.end()), 1e-5);
    EXPECT_NEAR(choice.top[2 * i + 1].log_prob,
                expected[choice.top[2 * i + 1].id], 1e-5);
    sum += choice.log_probs[i];
    tokens.push_back(choice.tokens[i]);
  }
  EXPECT_FLOAT_EQ(choice.score, sum);
}

TEST(SamplingSearchTest, RowsAreTheUnfinishedChoicesInOrder) {
  GenerationParams params;
  params.do_sample = true;
  params.num_return_sequences = 4;
  params.eos_ids = {2, 3, 4};
  params.max_new_tokens = 40;
  params.seed = 3;
  const FakeModel model(kVocab, 5, 1);
  const auto search = MakeSearch({params, PromptOf(params), kVocab});
  ASSERT_EQ(search->rows(), 1);
  EXPECT_THAT(search->tokens(0), ElementsAre(0));
  std::vector<int> live = {0, 1, 2, 3};
  bool first = true;
  while (search->rows() > 0) {
    model.Step(*search);
    std::vector<int> next_live, parents;
    for (size_t row = 0; row < live.size(); ++row) {
      const ChoiceOutput& choice = search->output().choices[live[row]];
      if (choice.finish != FinishReason::kNone) continue;
      next_live.push_back(live[row]);
      parents.push_back(first ? 0 : static_cast<int>(row));
    }
    ASSERT_EQ(search->rows(), static_cast<int>(next_live.size()));
    EXPECT_EQ(
        std::vector<int>(search->parents().begin(), search->parents().end()),
        parents);
    for (int row = 0; row < search->rows(); ++row) {
      const auto& tokens = search->output().choices[next_live[row]].tokens;
      EXPECT_EQ(search->tokens(row).subspan(1), absl::MakeConstSpan(tokens));
    }
    live = next_live;
    first = false;
  }
}

TEST(SamplingSearchTest, TheSeedDecidesAndChoicesDiffer) {
  GenerationParams params;
  params.do_sample = true;
  params.num_return_sequences = 3;
  params.max_new_tokens = 20;
  params.seed = 11;
  const FakeModel model(kVocab, 6, 1);
  const SequenceOutput once = RunSearch(params, model);
  const SequenceOutput again = RunSearch(params, model);
  std::set<std::vector<int>> distinct;
  for (int choice = 0; choice < 3; ++choice) {
    EXPECT_EQ(once.choices[choice].tokens, again.choices[choice].tokens);
    distinct.insert(once.choices[choice].tokens);
  }
  // One choice of three is the first choice of one.
  params.num_return_sequences = 1;
  EXPECT_EQ(RunSearch(params, model).choices[0].tokens, once.choices[0].tokens);
  params.seed = 12;
  distinct.insert(RunSearch(params, model).choices[0].tokens);
  EXPECT_EQ(distinct.size(), 4u);
}

TEST(SamplingSearchTest, StopStringEnds) {
  GenerationParams params;
  params.max_new_tokens = 30;
  const FakeModel model(kVocab, 7);
  const std::vector<int> free = RunSearch(params, model).choices[0].tokens;
  std::vector<std::string> texts;
  for (int id = 0; id < kVocab; ++id) texts.push_back(std::string(1, 'a' + id));
  params.stop_strings = {texts[free[4]] + texts[free[5]]};
  VocabularyTexts list;
  for (const std::string& text : texts) list.plain.Add(text);
  const auto search = MakeSearch({params, PromptOf(params), kVocab, &list});
  while (search->rows() > 0) model.Step(*search);
  const ChoiceOutput& choice = search->output().choices[0];
  EXPECT_EQ(choice.finish, FinishReason::kStopSequence);
  EXPECT_EQ(choice.tokens, std::vector<int>(free.begin(), free.begin() + 6));
}

}  // namespace
}  // namespace attend
