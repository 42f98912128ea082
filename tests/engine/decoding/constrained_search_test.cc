// Searches under a constraint, against searches over whole rows.

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "engine/decoding/search.h"
#include "engine/decoding/uniform_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"
#include "tests/engine/decoding/naive_beam_search.h"
#include "tests/support/token_constraint.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr int kVocab = 70;
constexpr int kEnd = 2;

// About `one_in` tokens may follow, by a hash of the tokens before; every third
// sequence may end.
std::shared_ptr<const Constraint> Hashed(unsigned seed, unsigned one_in) {
  const auto hash = [seed](const std::vector<int>& tokens, int id) {
    uint64_t state = seed * 977 + 13;
    for (int token : tokens) state = state * 6364136223846793005 + token + 1;
    return (state * 6364136223846793005 + uint64_t(id) * 1442695040888963407) >>
           40;
  };
  return std::make_shared<TokenConstraint>(
      TokenRules{.vocab = kVocab,
                 .allows =
                     [=](const std::vector<int>& tokens, int id) {
                       return id == 9 || hash(tokens, id) % one_in == 0;
                     },
                 .can_end =
                     [=](const std::vector<int>& tokens) {
                       return hash(tokens, 1000) % 3 == 0;
                     }});
}

// Sequences of digits 10, 11, ... that count down from at most 13, and then
// end.
std::shared_ptr<const Constraint> CountDown() {
  return std::make_shared<TokenConstraint>(TokenRules{
      .vocab = kVocab,
      .allows =
          [](const std::vector<int>& tokens, int id) {
            const int highest = tokens.empty() ? 13 : tokens.back() - 1;
            return id >= 10 && id <= highest;
          },
      .can_end =
          [](const std::vector<int>& tokens) {
            return !tokens.empty() && tokens.back() == 10;
          }});
}

GenerationParams Params(int bits) {
  GenerationParams params;
  params.max_new_tokens = 9;
  params.eos_ids = {kEnd};
  if (bits & 1) params.repetition_penalty = 1.3;
  if (bits & 2) params.no_repeat_ngram_size = 2;
  if (bits & 4) params.renormalize_logits = true;
  if (bits & 8) params.top_log_probs = 3;
  if (bits & 16) params.sequence_bias = {{{9}, -4}, {{5}, 3}};
  if (bits & 32) params.stop_ids = {33};
  return params;
}

TEST(ConstrainedSearchTest, BeamsEqualTheNaiveSearch) {
  int several = 0;
  for (int bits = 0; bits < 64; ++bits) {
    for (unsigned one_in : {2, 7, 40}) {
      const FakeModel model(kVocab, 100 + bits);
      GenerationParams params = Params(bits);
      params.num_beams = params.num_return_sequences = 3;
      params.constraint = Hashed(bits, one_in);
      const auto search = MakeSearch({params, PromptOf(params), kVocab});
      while (search->rows() > 0) {
        model.Step(*search);
        ASSERT_TRUE(search->status().ok()) << search->status();
      }
      std::vector<NaiveBeam> naive = NaiveBeamSearch(
          params, model, [](const std::vector<int>&) { return false; });
      // Places that nothing fills well are left out.
      std::erase_if(naive, [](const NaiveBeam& beam) {
        return !beam.finished || beam.score < -1e6f;
      });
      const auto& choices = search->output().choices;
      ASSERT_EQ(choices.size(), naive.size()) << bits << " " << one_in;
      several += choices.size() > 1;
      for (size_t i = 0; i < naive.size(); ++i) {
        EXPECT_EQ(choices[i].tokens, naive[i].tokens) << bits << " " << one_in;
        EXPECT_NEAR(choices[i].score, naive[i].score, 1e-4);
      }
    }
  }
  EXPECT_GT(several, 50);
}

TEST(ConstrainedSearchTest, GreedyTakesTheBestThatIsAllowed) {
  for (int bits = 0; bits < 64; ++bits) {
    const FakeModel model(kVocab, 500 + bits);
    GenerationParams params = Params(bits);
    params.constraint = Hashed(bits, 9);
    const auto search = MakeSearch({params, PromptOf(params), kVocab});
    std::vector<int> tokens = PromptOf(params);
    while (search->rows() > 0) {
      const std::vector<float> scores =
          NaiveProcess(params, tokens, model.Logits(tokens));
      tokens.push_back(static_cast<int>(
          std::max_element(scores.begin(), scores.end()) - scores.begin()));
      model.Step(*search);
      ASSERT_EQ(search->output().choices[0].tokens.back(), tokens.back())
          << bits;
    }
    const FinishReason finish = search->output().choices[0].finish;
    const bool ended = tokens.back() == kEnd || tokens.back() == 33;
    EXPECT_EQ(finish, ended ? FinishReason::kEos : FinishReason::kMaxLength);
  }
}

// Each choice draws from the distribution of the allowed tokens.
TEST(ConstrainedSearchTest, SamplesEqualTheNaiveDraw) {
  for (int bits = 0; bits < 64; ++bits) {
    const FakeModel model(kVocab, 900 + bits);
    GenerationParams params = Params(bits);
    params.do_sample = true;
    params.num_return_sequences = 3;
    params.seed = bits;
    params.top_k = bits % 3 == 0 ? 0 : 5;
    params.constraint = Hashed(bits, 9);
    const auto search = MakeSearch({params, PromptOf(params), kVocab});
    while (search->rows() > 0) model.Step(*search);
    ASSERT_TRUE(search->status().ok());
    for (int choice = 0; choice < 3; ++choice) {
      std::vector<int> tokens = PromptOf(params);
      for (const int id : search->output().choices[choice].tokens) {
        std::vector<TokenScore> scores;
        for (const float score :
             NaiveProcess(params, tokens, model.Logits(tokens))) {
          scores.push_back({static_cast<int>(scores.size()), score});
        }
        std::stable_sort(scores.begin(), scores.end(),
                         [](const TokenScore& a, const TokenScore& b) {
                           return a.score > b.score;
                         });
        if (params.top_k > 0) {
          const float kth = scores[params.top_k - 1].score;
          std::erase_if(scores, [kth](const TokenScore& token) {
            return token.score < kth;
          });
        } else {
          std::sort(scores.begin(), scores.end(),
                    [](const TokenScore& a, const TokenScore& b) {
                      return a.id < b.id;
                    });
        }
        double sum = 0;
        for (TokenScore& token : scores) sum += std::exp(token.score);
        const double uniform =
            UniformRandom(params.seed, choice, tokens.size() - 1) * sum;
        double cumulated = 0;
        int drawn = -1;
        for (const TokenScore& token : scores) {
          cumulated += std::exp(token.score);
          drawn = token.id;
          if (cumulated > uniform) break;
        }
        ASSERT_EQ(id, drawn) << bits << " " << choice;
        tokens.push_back(id);
      }
    }
  }
}

// Fewer sequences than beams: all of them are found, each once a spelling, and
// the search ends when there are no more.
TEST(ConstrainedSearchTest, BeamsFindAllOfASmallLanguage) {
  const FakeModel model(kVocab, 3);
  GenerationParams params;
  params.max_new_tokens = 1000;
  params.num_beams = params.num_return_sequences = 20;
  params.eos_ids = {kEnd};
  params.log_probs = true;
  params.constraint = CountDown();
  const auto search = MakeSearch({params, PromptOf(params), kVocab});
  int steps = 0;
  for (; search->rows() > 0; ++steps) model.Step(*search);
  ASSERT_TRUE(search->status().ok()) << search->status();
  std::set<std::vector<int>> found;
  for (const ChoiceOutput& choice : search->output().choices) {
    found.insert(choice.tokens);
    EXPECT_EQ(choice.finish, FinishReason::kEos);
    EXPECT_EQ(choice.log_probs.size(), choice.tokens.size());
  }
  EXPECT_EQ(found.size(), 8u);  // subsets of {13, 12, 11}, then 10 and the end
  EXPECT_EQ(search->output().choices.size(), 8u);
  EXPECT_EQ(steps, 5);
}

TEST(ConstrainedSearchTest, AnEndIsForcedOnlyWhereTheTextMayEnd) {
  const FakeModel model(kVocab, 4);
  for (const int max_new_tokens : {1, 2, 5}) {
    GenerationParams params;
    params.max_new_tokens = max_new_tokens;
    params.eos_ids = {kEnd};
    params.forced_eos_id = kEnd;
    params.sequence_bias = {{{10}, -50}};  // the longest sequence
    params.constraint = CountDown();
    const auto search = MakeSearch({params, PromptOf(params), kVocab});
    while (search->rows() > 0) model.Step(*search);
    const ChoiceOutput& choice = search->output().choices[0];
    const bool whole =
        choice.tokens.size() >= 2 && choice.tokens.back() == kEnd;
    EXPECT_EQ(choice.finish,
              whole ? FinishReason::kEos : FinishReason::kMaxLength);
    EXPECT_EQ(whole, max_new_tokens == 5) << max_new_tokens;
  }
}

TEST(ConstrainedSearchTest, NothingThatMayFollowIsAnError) {
  const FakeModel model(kVocab, 5);
  for (const int num_beams : {1, 3}) {
    for (const bool sample : {false, true}) {
      if (sample && num_beams > 1) continue;
      GenerationParams params;
      params.num_beams = num_beams;
      params.do_sample = sample;
      params.eos_ids = {kEnd};
      params.suppress_tokens = {10};  // so that no sequence ends
      params.constraint = CountDown();
      const auto search = MakeSearch({params, PromptOf(params), kVocab});
      int steps = 0;
      while (search->status().ok()) {
        ASSERT_LT(++steps, 9);
        model.Step(*search);
      }
      EXPECT_TRUE(absl::IsInvalidArgument(search->status()));
      EXPECT_THAT(search->status().message(),
                  HasSubstr("constraint: no token of the model may follow"));
      EXPECT_FALSE(search->output().finished);
    }
  }
}

TEST(ConstrainedSearchTest, AStopIdWithATextHasToBeAllowed) {
  const FakeModel model(kVocab, 5);
  VocabularyTexts texts;
  for (int id = 0; id < kVocab; ++id) {
    texts.plain.Add(id == kEnd || id == 40 ? "" : "a");
  }
  for (const int num_beams : {1, 3}) {
    for (const int stop : {33, 12, 40}) {
      GenerationParams params;
      params.num_beams = num_beams;
      params.max_new_tokens = 9;
      params.stop_ids = {stop};
      if (stop != 40) params.eos_ids = {kEnd};
      params.sequence_bias = {{{stop}, 50}};  // preferred wherever it may come
      params.constraint = CountDown();
      const auto search =
          MakeSearch({params, PromptOf(params), kVocab, &texts});
      while (!search->output().finished) model.Step(*search);
      const ChoiceOutput& choice = search->output().choices[0];
      EXPECT_EQ(choice.finish, FinishReason::kEos);
      // 12 is allowed at the start; what has no text only ends a whole text.
      EXPECT_EQ(choice.tokens.back(), stop == 33 ? kEnd : stop);
      const auto tokens = absl::MakeConstSpan(choice.tokens);
      for (int id : tokens.first(tokens.size() - 1)) {
        EXPECT_THAT(id, testing::AllOf(testing::Ge(10), testing::Le(13)));
      }
      if (stop != 12) {
        EXPECT_EQ(tokens[tokens.size() - 2], 10);
      }
    }
  }
}

TEST(ConstrainedSearchTest, AFailedMaskIsAnError) {
  const FakeModel model(kVocab, 6);
  for (const int num_beams : {1, 3}) {
    for (const size_t fails_after : {0, 1, 3}) {
      GenerationParams params;
      params.num_beams = num_beams;
      params.constraint = std::make_shared<TokenConstraint>(
          TokenRules{.vocab = kVocab,
                     .allows = [](const auto&, int) { return true; },
                     .can_end = [](const auto&) { return true; },
                     .fails_after = fails_after});
      const auto search = MakeSearch({params, PromptOf(params), kVocab});
      size_t steps = 0;
      for (; search->status().ok() && steps < 9; ++steps) model.Step(*search);
      EXPECT_EQ(search->status().message(), "constraint: too much work");
      EXPECT_EQ(steps, fails_after == 0 ? 0 : fails_after + 1);
    }
  }
}

// What the logits are asked for is all that is read: see AskedRow.
TEST(ConstrainedSearchTest, AsksForNoRowWithoutAReason) {
  GenerationParams params;
  params.constraint = CountDown();
  const auto search = MakeSearch({params, PromptOf(params), kVocab});
  EXPECT_FALSE(search->needs()[0].row);
  EXPECT_NE(search->needs()[0].allowed, nullptr);
  params.log_probs = true;
  EXPECT_TRUE(MakeSearch({params, PromptOf(params), kVocab})->needs()[0].row);
}

}  // namespace
}  // namespace attend
