#include "engine/decoding/force_words.h"

#include <memory>
#include <vector>

#include "engine/decoding/search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// {Bank, whether all words are complete, the tokens that go on}.
struct After {
  int bank = 0;
  bool complete = false;
  std::vector<int> next;
};

After Added(const std::vector<std::vector<std::vector<int>>>& words,
            const std::vector<int>& tokens) {
  GenerationParams params;
  params.force_words = words;
  const ForceWords force(params);
  WordProgress progress = force.Begin();
  for (const int token : tokens) force.Add(token, progress);
  After after = {force.Bank(progress), force.Complete(progress), {}};
  force.Next(progress, after.next);
  return after;
}

TEST(ForceWordsTest, AWordGoesOnTokenByToken) {
  const std::vector<std::vector<std::vector<int>>> words = {{{1, 2, 3}}, {{4}}};
  EXPECT_THAT(Added(words, {}).next, ElementsAre(1, 4));
  EXPECT_EQ(Added(words, {}).bank, 0);
  EXPECT_THAT(Added(words, {1}).next, ElementsAre(2));
  EXPECT_EQ(Added(words, {1}).bank, 1);
  EXPECT_EQ(Added(words, {1, 2}).bank, 2);
  EXPECT_THAT(Added(words, {1, 2, 3}).next, ElementsAre(4));
  EXPECT_EQ(Added(words, {1, 2, 3}).bank, 3);
  EXPECT_TRUE(Added(words, {1, 2, 3, 9, 4}).complete);
  EXPECT_THAT(Added(words, {4, 1, 2, 3}).next, IsEmpty());
}

TEST(ForceWordsTest, AWordThatDoesNotGoOnIsBegunAnew) {
  const std::vector<std::vector<std::vector<int>>> words = {{{1, 2}}, {{1, 3}}};
  // The token that breaks a word does not begin one.
  EXPECT_EQ(Added(words, {1, 1}).bank, 0);
  // The broken word comes after the others: 1 begins the second.
  EXPECT_THAT(Added(words, {1, 9}).next, ElementsAre(1, 1));
  EXPECT_THAT(Added(words, {1, 9, 1}).next, ElementsAre(3));
  EXPECT_FALSE(Added(words, {1, 9, 1, 2}).complete);
  EXPECT_TRUE(Added(words, {1, 9, 1, 3, 1, 2}).complete);
}

TEST(ForceWordsTest, OneAlternativeIsEnough) {
  const std::vector<std::vector<std::vector<int>>> words = {
      {{1, 2, 3}, {1, 4}, {5}}};
  EXPECT_THAT(Added(words, {}).next, ElementsAre(1, 5));
  EXPECT_THAT(Added(words, {1}).next, ElementsAre(2, 4));
  EXPECT_EQ(Added(words, {1}).bank, 1);
  for (const std::vector<int>& way :
       std::vector<std::vector<int>>{{1, 2, 3}, {1, 4}, {5}}) {
    EXPECT_TRUE(Added(words, way).complete);
    EXPECT_EQ(Added(words, way).bank, 3);
  }
}

TEST(ForceWordsSearchTest, WhatEndsHasAllWords) {
  int ended = 0;
  for (int seed = 0; seed < 20; ++seed) {
    const FakeModel model(60, seed);
    GenerationParams params;
    params.max_new_tokens = 40;
    params.num_beams = params.num_return_sequences = 4;
    params.eos_ids = {2};
    params.sequence_bias = {{{2}, 6}};
    params.log_probs = true;
    params.force_words = {{{10, 11}, {10, 12}}, {{13}}, {{14, 15, 16}}};
    const auto search = MakeSearch({params, PromptOf(params), 60});
    while (search->rows() > 0) model.Step(*search);
    for (const ChoiceOutput& choice : search->output().choices) {
      EXPECT_EQ(choice.log_probs.size(), choice.tokens.size());
      if (choice.finish != FinishReason::kEos) continue;
      ++ended;
      const std::vector<int> plain(choice.tokens.begin(),
                                   choice.tokens.end() - 1);
      EXPECT_TRUE(Added(params.force_words, plain).complete);
    }
  }
  EXPECT_GT(ended, 10);
}

}  // namespace
}  // namespace attend
