#include "engine/layers/mixture_of_experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace attend {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsNan;

std::vector<int> Chosen(std::vector<float>& scores, int count) {
  std::vector<int> chosen(count);
  ChooseExperts(absl::MakeSpan(scores), absl::MakeSpan(chosen));
  return chosen;
}

TEST(ChooseExpertsTest, TakesTheGreatestInTheOrderOfTheirNumbers) {
  const std::vector<float> scores = {0.5f, -1, 3, 0.75f, 2, -7};
  for (const auto& [count, expected] :
       {std::pair(1, std::vector<int>{2}),
        {2, std::vector<int>{2, 4}},
        {3, std::vector<int>{2, 3, 4}},
        {4, std::vector<int>{0, 2, 3, 4}},
        {6, std::vector<int>{0, 1, 2, 3, 4, 5}}}) {
    std::vector<float> weights = scores;
    EXPECT_EQ(Chosen(weights, count), expected);
  }
}

TEST(ChooseExpertsTest, WeightsAreTheSoftmaxOfAllScores) {
  std::vector<float> scores = {0, std::log(2.0f), std::log(5.0f), -200};
  Chosen(scores, 2);
  EXPECT_THAT(scores,
              ElementsAre(FloatEq(0.125f), FloatEq(0.25f), FloatEq(0.625f), 0));
  std::vector<float> large = {3e38f, 3e38f};
  Chosen(large, 1);
  EXPECT_THAT(large, ElementsAre(0.5f, 0.5f));
}

TEST(ChooseExpertsTest, OfEqualOnesTheFirstAreTaken) {
  std::vector<float> scores = {1, 2, 1, 2, 2, 1};
  EXPECT_THAT(Chosen(scores, 2), ElementsAre(1, 3));
  EXPECT_THAT(Chosen(scores, 4), ElementsAre(0, 1, 3, 4));
}

// Then the row's result is NaN, and experts are those that exist.
TEST(ChooseExpertsTest, ScoresThatAreNotFiniteMakeEveryWeightNan) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {NAN, kInfinity}) {
    for (int at = 0; at < 3; ++at) {
      std::vector<float> scores = {1, 2, 3};
      scores[at] = bad;
      EXPECT_THAT(Chosen(scores, 2),
                  Each(testing::AllOf(testing::Ge(0), testing::Lt(3))));
      EXPECT_THAT(scores, Each(IsNan()));
    }
  }
}

}  // namespace
}  // namespace attend
