#include "engine/decoding/logits_processors.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsEmpty;

std::vector<int> Banned(const GenerationParams& params,
                        const std::vector<int>& tokens) {
  LogitsProcessors processors({params, PromptOf(params)});
  processors.Update(tokens);
  std::vector<int> ids;
  for (const TokenEdit& edit : processors.edits()) {
    if (edit.banned) ids.push_back(edit.id);
  }
  return ids;
}

// Score of `id` that had `score`.
float Processed(const GenerationParams& params, const std::vector<int>& tokens,
                int id, float score) {
  LogitsProcessors processors({params, PromptOf(params)});
  processors.Update(tokens);
  for (const TokenEdit& edit : processors.edits()) {
    if (edit.id == id) return processors.Apply(edit, score);
  }
  return score;
}

TEST(LogitsProcessorsTest, NothingByDefault) {
  const GenerationParams params;
  LogitsProcessors processors({params, PromptOf(params)});
  processors.Update({0, 5, 5, 5});
  EXPECT_THAT(processors.edits(), IsEmpty());
  EXPECT_EQ(processors.forced(), -1);
}

TEST(LogitsProcessorsTest, RepetitionPenaltyCountsStartAndPrefix) {
  GenerationParams params;
  params.repetition_penalty = 2;
  params.forced_prefix = {7};
  const std::vector<int> tokens = {1, 7, 3, 3};
  for (int id : {1, 7, 3}) {
    EXPECT_THAT(Processed(params, tokens, id, 4), FloatEq(2));
    EXPECT_THAT(Processed(params, tokens, id, -4), FloatEq(-8));
  }
  EXPECT_THAT(Processed(params, tokens, 2, 4), FloatEq(4));
}

TEST(LogitsProcessorsTest, PresenceAndFrequencyCountNewTokensOnly) {
  GenerationParams params;
  params.presence_penalty = 0.5;
  params.frequency_penalty = 0.25;
  params.forced_prefix = {7};
  const std::vector<int> tokens = {1, 7, 3, 3, 4};
  EXPECT_THAT(Processed(params, tokens, 3, 1), FloatEq(0));
  EXPECT_THAT(Processed(params, tokens, 4, 1), FloatEq(0.25));
  EXPECT_THAT(Processed(params, tokens, 7, 1), FloatEq(1));
  params.repetition_penalty = 2;  // comes first
  EXPECT_THAT(Processed(params, tokens, 3, 1), FloatEq(-0.5));
}

TEST(LogitsProcessorsTest, NoRepeatNgram) {
  GenerationParams params;
  params.no_repeat_ngram_size = 1;
  EXPECT_THAT(Banned(params, {1, 5, 5}), ElementsAre(1, 5));
  params.no_repeat_ngram_size = 2;
  EXPECT_THAT(Banned(params, {1}), IsEmpty());
  EXPECT_THAT(Banned(params, {1, 1}), ElementsAre(1));
  EXPECT_THAT(Banned(params, {1, 2, 1, 3, 1}), ElementsAre(2, 3));
  params.no_repeat_ngram_size = 3;
  EXPECT_THAT(Banned(params, {1, 2, 3, 1, 2}), ElementsAre(3));
  EXPECT_THAT(Banned(params, {1, 2, 3, 2, 1}), IsEmpty());
}

// As EncoderNoRepeatNGramLogitsProcessor of transformers has it.
TEST(LogitsProcessorsTest, NoNgramOfTheSource) {
  const GenerationParams params;
  const std::vector<int> source = {4, 5, 6, 4, 5, 7, 4};
  const auto banned = [&](int size, const std::vector<int>& tokens) {
    LogitsProcessors processors({.params = params,
                                 .prompt = PromptOf(params),
                                 .source_ngram_size = size,
                                 .source = source});
    EXPECT_TRUE(processors.may_edit());
    processors.Update(tokens);
    std::vector<int> ids;
    for (const TokenEdit& edit : processors.edits()) {
      EXPECT_TRUE(edit.banned);
      ids.push_back(edit.id);
    }
    return ids;
  };
  EXPECT_THAT(banned(1, {1}), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(banned(2, {1}), IsEmpty());
  EXPECT_THAT(banned(2, {4}), ElementsAre(5));
  EXPECT_THAT(banned(2, {1, 5}), ElementsAre(6, 7));
  EXPECT_THAT(banned(3, {5}), IsEmpty());
  EXPECT_THAT(banned(3, {1, 4, 5}), ElementsAre(6, 7));
  EXPECT_THAT(banned(3, {1, 7, 4}), IsEmpty());
  EXPECT_THAT(banned(8, {4, 5, 6, 4, 5, 7, 4}), IsEmpty());
}

TEST(LogitsProcessorsTest, BadWords) {
  GenerationParams params;
  params.eos_ids = {9};
  params.bad_words = {{8}, {1, 2}, {3, 4, 5}, {9}, {0, 9}, {8}};
  // What ends a sequence can be banned as part of a word only.
  EXPECT_THAT(Banned(params, {7}), ElementsAre(8));
  EXPECT_THAT(Banned(params, {0}), ElementsAre(8, 9));
  EXPECT_THAT(Banned(params, {7, 1}), ElementsAre(2, 8));
  EXPECT_THAT(Banned(params, {4}), ElementsAre(8));
  EXPECT_THAT(Banned(params, {3, 4}), ElementsAre(5, 8));
}

TEST(LogitsProcessorsTest, BiasesAddUpBeforeThePenalties) {
  GenerationParams params;
  params.sequence_bias = {{{5}, 2}, {{1, 5}, 0.5}, {{3, 1, 5}, 8}, {{5}, 0.25}};
  EXPECT_THAT(Processed(params, {7}, 5, 1), FloatEq(3.25));
  EXPECT_THAT(Processed(params, {1}, 5, 1), FloatEq(3.75));
  EXPECT_THAT(Processed(params, {0, 3, 1}, 5, 1), FloatEq(11.75));
  EXPECT_THAT(Processed(params, {0, 3, 1}, 6, 1), FloatEq(1));
  params.repetition_penalty = 2;
  EXPECT_THAT(Processed(params, {0, 5}, 5, -3), FloatEq(-1.5));
}

TEST(LogitsProcessorsTest, SuppressedTokens) {
  GenerationParams params;
  params.suppress_tokens = {8, 3};
  params.begin_suppress_tokens = {9};
  EXPECT_THAT(Banned(params, {0}), ElementsAre(3, 8, 9));
  EXPECT_THAT(Banned(params, {0, 1}), ElementsAre(3, 8));
  params.forced_bos_id = 4;  // the first token that is chosen is the second
  EXPECT_THAT(Banned(params, {0}), IsEmpty());
  EXPECT_THAT(Banned(params, {0, 4}), ElementsAre(3, 8, 9));
  EXPECT_THAT(Banned(params, {0, 4, 1}), ElementsAre(3, 8));
  params.forced_prefix = {6};  // as transformers: then nothing is forced
  EXPECT_THAT(Banned(params, {0, 6}), ElementsAre(3, 8, 9));
  EXPECT_THAT(Banned(params, {0, 6, 1}), ElementsAre(3, 8));
}

TEST(LogitsProcessorsTest, MinNewTokensBansAllEnds) {
  GenerationParams params;
  params.eos_ids = {9};
  params.stop_ids = {2};
  params.forced_prefix = {5, 5};
  params.min_new_tokens = 2;
  EXPECT_THAT(Banned(params, {0, 5, 5}), ElementsAre(2, 9));
  EXPECT_THAT(Banned(params, {0, 5, 5, 1}), ElementsAre(2, 9));
  EXPECT_THAT(Banned(params, {0, 5, 5, 1, 1}), IsEmpty());
}

TEST(LogitsProcessorsTest, ForcedTokens) {
  GenerationParams params;
  params.forced_bos_id = 4;
  params.forced_eos_id = 9;
  params.max_new_tokens = 3;
  params.bad_words = {{4}, {7}};  // forcing wins
  LogitsProcessors processors({params, PromptOf(params)});
  processors.Update({0});
  EXPECT_EQ(processors.forced(), 4);
  EXPECT_THAT(processors.edits(), IsEmpty());
  processors.Update({0, 4});
  EXPECT_EQ(processors.forced(), -1);
  EXPECT_EQ(processors.edits().size(), 2u);
  processors.Update({0, 4, 5});
  EXPECT_EQ(processors.forced(), 9);

  params.forced_prefix = {1};
  LogitsProcessors prefixed({params, PromptOf(params)});
  prefixed.Update({0, 1});
  EXPECT_EQ(prefixed.forced(), -1);  // as transformers: not after a prefix
  params.max_new_tokens = 1;
  LogitsProcessors shortest({params, PromptOf(params)});
  shortest.Update({0, 1});
  EXPECT_EQ(shortest.forced(), 9);
}

TEST(LogitsProcessorsTest, EditsOfOneTokenAreMerged) {
  GenerationParams params;
  params.repetition_penalty = 2;
  params.presence_penalty = 1;
  params.no_repeat_ngram_size = 1;
  params.bad_words = {{3}};
  LogitsProcessors processors({params, PromptOf(params)});
  processors.Update({0, 3, 3});
  ASSERT_EQ(processors.edits().size(), 2u);
  EXPECT_EQ(processors.edits()[0].id, 0);
  EXPECT_EQ(processors.edits()[1].id, 3);
  EXPECT_EQ(processors.Apply(processors.edits()[1], 5),
            -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace attend
