#include "server/scheduler/turn_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

// A model on a machine that it shares with others. Times are in milliseconds.
struct SimulatedModel {
  std::vector<TurnClaim> claims = {};
  double step = 1;
  int steps = 0;     // of a call; 0: there is always work
  double from = 0;   // when the first call comes
  double pause = 0;  // after a call, until the next one comes

  // Of the call that is there:
  bool asks = false;
  int left = 0;

  // What has happened:
  double computed = 0;
  std::vector<double> latencies = {};
};

// Runs the models in virtual time, until the machine has worked for so long. It
// is idle only while there is no call.
void RunFor(double until, TurnShares& shares,
            std::vector<SimulatedModel>& models, double now = 0) {
  while (now < until) {
    double next_call = until;
    for (size_t i = 0; i < models.size(); ++i) {
      SimulatedModel& model = models[i];
      if (model.asks) continue;
      if (model.from > now) {
        next_call = std::min(next_call, model.from);
        continue;
      }
      if (model.left == 0) model.left = model.steps;
      shares.SetClaims(static_cast<int>(i), model.claims);
      shares.Ask(static_cast<int>(i));
      model.asks = true;
    }
    const int number = shares.Next();
    if (number < 0) {
      now = next_call;
      continue;
    }
    SimulatedModel& model = models[number];
    shares.Begin(number);
    now += model.step;
    model.computed += model.step;
    model.asks = false;
    shares.End(number, model.step / 1000);
    if (model.steps == 0 || --model.left > 0) continue;
    model.latencies.push_back(now - model.from);
    model.from = now + model.pause;
    shares.SetClaims(number, {});
  }
}

std::vector<SimulatedModel> RunFor(double until,
                                   std::vector<SimulatedModel> models) {
  TurnShares shares;
  for (size_t i = 0; i < models.size(); ++i) shares.Add();
  RunFor(until, shares, models);
  return models;
}

TEST(TurnSharesTest, ModelsWithEqualWorkTakeTurns) {
  TurnShares shares;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(shares.Add(), i);
  EXPECT_EQ(shares.Next(), -1);
  for (const int i : {2, 0, 1}) shares.Ask(i);
  std::vector<int> order;
  for (int step = 0; step < 6; ++step) {
    order.push_back(shares.Next());
    shares.Begin(order.back());
    shares.End(order.back(), 0.5);
    EXPECT_FALSE(shares.GoesOn(order.back()));
    shares.Ask(order.back());
  }
  EXPECT_THAT(order, ElementsAre(2, 0, 1, 2, 0, 1));
}

// One tenant floods a model; another one calls a model whose steps are short.
TEST(TurnSharesTest, ACallTakesAtMostThreeTimesItsTimeAndAStepOfTheOther) {
  for (const double long_step : {2.0, 15.0, 70.0, 400.0}) {
    for (const double short_step : {0.3, 2.0}) {
      for (const int steps : {1, 20, 200}) {
        for (const double pause : {0.0, 0.2, 7.0, 1000.0}) {
          const auto models =
              RunFor(60000, {{.claims = {{1}}, .step = long_step},
                             {.claims = {{2}},
                              .step = short_step,
                              .steps = steps,
                              .from = 3,
                              .pause = pause}});
          const double alone = steps * short_step;
          EXPECT_THAT(models[1].latencies, Each(Le(3 * alone + long_step)))
              << long_step << " " << short_step << " " << steps;
          // The flood gets all that is left.
          EXPECT_GE(models[0].computed + models[1].computed, 59999.9);
        }
      }
    }
  }
}

TEST(TurnSharesTest, TimeIsSharedByWeightWhateverStepsTake) {
  const auto models = RunFor(10000, {{.claims = {{1, 1}, {2, 2}}, .step = 40},
                                     {.claims = {{3, 6}}, .step = 0.5},
                                     {.claims = {{4, 1}}, .step = 3}});
  EXPECT_NEAR(models[0].computed, 3000, 100);
  EXPECT_NEAR(models[1].computed, 6000, 100);
  EXPECT_NEAR(models[2].computed, 1000, 100);
}

// Else it would have more of the machine than one that calls one model.
TEST(TurnSharesTest, ATenantHasItsWeightOnceInAllModels) {
  TurnShares shares;
  std::vector<SimulatedModel> models = {{.claims = {{1}}, .step = 5},
                                        {.claims = {{1}}, .step = 5},
                                        {.claims = {{2}}, .step = 5}};
  for (int i = 0; i < 3; ++i) shares.Add();
  RunFor(8000, shares, models);
  EXPECT_EQ(shares.models_of(1), 2);
  EXPECT_EQ(shares.models_of(2), 1);
  EXPECT_EQ(shares.models_of(3), 0);
  EXPECT_NEAR(models[0].computed + models[1].computed, 4000, 50);
  EXPECT_NEAR(models[2].computed, 4000, 50);
}

TEST(TurnSharesTest, BeingIdleEarnsNothing) {
  TurnShares shares;
  std::vector<SimulatedModel> models = {
      {.claims = {{1}}, .step = 10},
      {.claims = {{2}}, .step = 1, .from = 50000}};
  for (int i = 0; i < 2; ++i) shares.Add();
  RunFor(51000, shares, models);
  EXPECT_THAT(models[1].computed, AllOf(Ge(490), Le(520)));
}

// As if it had computed something: else the model would keep the others
// waiting.
TEST(TurnSharesTest, StepsWithoutWorkAreNotForNothing) {
  TurnShares shares;
  for (int i = 0; i < 2; ++i) shares.Add();
  shares.Ask(0);
  shares.Begin(0);
  shares.End(0, 0.01);
  shares.Ask(0);
  shares.Ask(1);
  int steps = 0;
  for (; shares.Next() == 1 && steps < 10000; ++steps) {
    shares.Begin(1);
    shares.End(1, 0);
    shares.Ask(1);
  }
  EXPECT_LT(steps, 10000);
}

TEST(TurnSharesTest, AModelThatComesInPlaceOfAnotherHasItsNumber) {
  TurnShares shares;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(shares.Add(), i);
  shares.SetClaims(0, std::vector<TurnClaim>{{1}});
  shares.Ask(0);
  shares.Remove(0);
  EXPECT_EQ(shares.Next(), -1);
  EXPECT_EQ(shares.models_of(1), 0);
  EXPECT_EQ(shares.Add(), 0);
}

}  // namespace
}  // namespace attend
