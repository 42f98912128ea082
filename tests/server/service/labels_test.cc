#include "server/service/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

std::vector<float> Scored(LabelScores kind, std::vector<float> scores) {
  ScoreLabels(kind, absl::MakeSpan(scores));
  return scores;
}

TEST(LabelsTest, Scores) {
  EXPECT_THAT(Scored(LabelScores::kRaw, {3, -1}), ElementsAre(3, -1));
  EXPECT_THAT(Scored(LabelScores::kSigmoid, {0, std::log(3.f)}),
              ElementsAre(FloatEq(0.5f), FloatEq(0.75f)));
  EXPECT_THAT(Scored(LabelScores::kSoftmax, {0, std::log(3.f)}),
              ElementsAre(FloatEq(0.25f), FloatEq(0.75f)));
  // Large ones do not overflow.
  EXPECT_THAT(Scored(LabelScores::kSoftmax, {1000, 1000}),
              ElementsAre(FloatEq(0.5f), FloatEq(0.5f)));
  EXPECT_THAT(Scored(LabelScores::kSigmoid, {-1000, 1000}), ElementsAre(0, 1));
  EXPECT_THAT(Scored(LabelScores::kSoftmax, {std::log(3.f)}),
              ElementsAre(FloatEq(0.75f)));
}

TEST(LabelsTest, BestFirst) {
  ModelInfo model;
  model.labels = {"a", "b", "c", "d"};
  google::protobuf::RepeatedPtrField<v1::LabelScore> labels;
  const float scores[] = {1, 3, 2, 3};
  AddLabels(scores, LabelScores::kRaw, model, 0, &labels);
  ASSERT_EQ(labels.size(), 4);
  EXPECT_EQ(labels[0].label(), "b");
  EXPECT_EQ(labels[0].index(), 1);
  EXPECT_EQ(labels[0].score(), 3);
  EXPECT_EQ(labels[1].label(), "d");
  EXPECT_EQ(labels[3].label(), "a");
  labels.Clear();
  AddLabels(scores, LabelScores::kRaw, model, 2, &labels);
  EXPECT_EQ(labels.size(), 2);
  labels.Clear();
  AddLabels(scores, LabelScores::kRaw, model, 9, &labels);
  EXPECT_EQ(labels.size(), 4);
}

// Probabilities of different logits may be equal in f32.
TEST(LabelsTest, TheOrderIsThatOfTheLogits) {
  ModelInfo model;
  model.labels = {"a", "b", "c"};
  for (const auto kind :
       {LabelScores::kRaw, LabelScores::kSigmoid, LabelScores::kSoftmax}) {
    for (const float shift : {0.f, 100.f, -200.f}) {
      google::protobuf::RepeatedPtrField<v1::LabelScore> labels;
      const float logits[] = {18 + shift, 20 + shift, 19 + shift};
      AddLabels(logits, kind, model, 0, &labels);
      EXPECT_EQ(labels[0].label(), "b");
      EXPECT_EQ(labels[1].label(), "c");
      EXPECT_EQ(labels[2].label(), "a");
    }
  }
}

}  // namespace
}  // namespace attend
