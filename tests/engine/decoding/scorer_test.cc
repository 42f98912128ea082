#include "engine/decoding/scorer.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"

namespace attend {
namespace {

TEST(ScorerTest, GroupsOfAnySizeGiveTheSame) {
  const FakeModel model(11, 3);
  const std::vector<int> target = {4, 10, 0, 4, 2};
  std::vector<std::vector<float>> rows;
  std::vector<int> tokens = {0};
  for (int id : target) {
    rows.push_back(model.Logits(tokens));
    tokens.push_back(id);
  }
  for (size_t group : {1, 2, 3, 5}) {
    Scorer scorer(target, 2);
    for (size_t begin = 0; begin < rows.size(); begin += group) {
      EXPECT_FALSE(scorer.output().finished);
      std::vector<LogitsView> views;
      for (size_t i = begin; i < std::min(rows.size(), begin + group); ++i) {
        views.emplace_back(rows[i]);
      }
      scorer.Advance(views);
    }
    EXPECT_EQ(scorer.remaining(), 0);
    ASSERT_TRUE(scorer.output().finished);
    const ChoiceOutput& choice = scorer.output().choices[0];
    EXPECT_EQ(choice.tokens, target);
    ASSERT_EQ(choice.top.size(), 10u);
    float sum = 0;
    for (size_t i = 0; i < target.size(); ++i) {
      const std::vector<float> expected = LogSoftmax(rows[i]);
      EXPECT_NEAR(choice.log_probs[i], expected[target[i]], 1e-5);
      EXPECT_NEAR(choice.top[2 * i].log_prob,
                  *std::max_element(expected.begin(), expected.end()), 1e-5);
      sum += choice.log_probs[i];
    }
    EXPECT_FLOAT_EQ(choice.score, sum);
  }
}

}  // namespace
}  // namespace attend
