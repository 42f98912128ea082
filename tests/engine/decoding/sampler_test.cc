#include "engine/decoding/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/decoding/uniform_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"
#include "tests/engine/decoding/naive_processors.h"

namespace attend {
namespace {

constexpr float kMinusInf = -std::numeric_limits<float>::infinity();

std::vector<double> Softmax(const std::vector<float>& scores) {
  const float max = *std::max_element(scores.begin(), scores.end());
  std::vector<double> probs;
  for (float score : scores) probs.push_back(std::exp(double{score} - max));
  const double sum = std::accumulate(probs.begin(), probs.end(), 0.0);
  for (double& prob : probs) prob /= sum;
  return probs;
}

// The warpers over the whole row, in the words of transformers.
std::vector<double> NaiveProbabilities(const GenerationParams& params,
                                       std::vector<float> scores) {
  const int vocab = static_cast<int>(scores.size());
  for (float& score : scores) score /= params.temperature;
  if (params.top_k > 0) {
    std::vector<float> sorted = scores;
    std::sort(sorted.rbegin(), sorted.rend());
    const float kth = sorted[std::min(params.top_k, vocab) - 1];
    for (float& score : scores) {
      if (score < kth) score = kMinusInf;
    }
  }
  if (params.top_p < 1) {
    std::vector<int> ids(vocab);
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(),
                     [&](int a, int b) { return scores[a] < scores[b]; });
    const std::vector<double> probs = Softmax(scores);
    double sum = 0;
    for (int rank = 0; rank < vocab - 1; ++rank) {
      sum += probs[ids[rank]];
      if (sum <= 1 - double{params.top_p} + 1e-7) scores[ids[rank]] = kMinusInf;
    }
  }
  const std::vector<double> probs = Softmax(scores);
  const double most = *std::max_element(probs.begin(), probs.end());
  for (int id = 0; id < vocab; ++id) {
    if (probs[id] < params.min_p * most) scores[id] = kMinusInf;
  }
  return Softmax(scores);
}

std::vector<double> Probabilities(const GenerationParams& params,
                                  const std::vector<float>& logits) {
  const int vocab = static_cast<int>(logits.size());
  ProcessedRow row({params, PromptOf(params), vocab},
                   Sampler::BestAsked(params, vocab));
  row.Set(LogitsView(logits), 0, {params.decoder_start_id}, {});
  Sampler sampler(params, vocab);
  sampler.Restrict(row);
  std::vector<double> probs(vocab, 0);
  for (const TokenScore& token : sampler.probabilities()) {
    probs[token.id] = token.score;
  }
  return probs;
}

void ExpectSame(const std::vector<double>& probs,
                const std::vector<double>& expected) {
  ASSERT_EQ(probs.size(), expected.size());
  for (size_t id = 0; id < probs.size(); ++id) {
    EXPECT_EQ(probs[id] > 0, expected[id] > 0) << id;
    EXPECT_NEAR(probs[id], expected[id], 1e-6) << id;
  }
}

TEST(SamplerTest, EqualsTheWarpersOverTheWholeRow) {
  const FakeModel model(40, 2);
  int seed = 0;
  for (float temperature : {1.0f, 0.5f, 1.9f}) {
    for (int top_k : {0, 1, 7, 39, 40, 500}) {
      for (float top_p : {1.0f, 0.9f, 0.31f, 1e-8f}) {
        for (float min_p : {0.0f, 0.2f, 1.0f}) {
          GenerationParams params;
          params.temperature = temperature;
          params.top_k = top_k;
          params.top_p = top_p;
          params.min_p = min_p;
          params.bad_words = {{3}, {17}};
          const std::vector<float> logits = model.Logits({seed++});
          SCOPED_TRACE(testing::Message() << temperature << " " << top_k << " "
                                          << top_p << " " << min_p);
          ExpectSame(
              Probabilities(params, logits),
              NaiveProbabilities(params, NaiveProcess(params, {0}, logits)));
        }
      }
    }
  }
}

TEST(SamplerTest, AllTiesOfTheKthStay) {
  GenerationParams params;
  params.top_k = 2;
  ExpectSame(Probabilities(params, {1, 3, 1, 1, 0}),
             NaiveProbabilities(params, {1, 3, 1, 1, 0}));
  // More ties than are looked at first.
  std::vector<float> flat(50, 1);
  flat[20] = 0;
  const std::vector<double> probs = Probabilities(params, flat);
  EXPECT_EQ(std::count(probs.begin(), probs.end(), 0), 1);
  EXPECT_EQ(probs[20], 0);
}

TEST(SamplerTest, TheColdestTakesTheBestTokenWhateverIsKnownOfTheRow) {
  const FakeModel model(80, 5);
  for (float temperature : {1e-30F, 1e-37F, 1e-38F, 1e-45F}) {
    for (int top_k : {0, 1, 50}) {
      GenerationParams params;
      params.do_sample = true;
      params.max_new_tokens = 9;
      params.temperature = temperature;
      params.top_k = top_k;
      const auto search = MakeSearch({params, PromptOf(params), 80});
      while (!search->output().finished) model.Step(*search);
      std::vector<int> tokens = {params.decoder_start_id};
      for (int id : search->output().choices[0].tokens) {
        const std::vector<float> row = model.Logits(tokens);
        EXPECT_EQ(id, std::max_element(row.begin(), row.end()) - row.begin())
            << temperature << " " << top_k;
        tokens.push_back(id);
      }
    }
  }
}

TEST(SamplerTest, OfTiesAtTheBorderOfTopPTheHigherIdsStay) {
  GenerationParams params;
  params.top_k = 0;
  params.top_p = 0.5;
  const std::vector<float> flat = {1, 1, 1, 1};
  ExpectSame(Probabilities(params, flat), {0, 0, 0.5, 0.5});
  params.top_p = 0.6;
  ExpectSame(Probabilities(params, flat), {0, 1 / 3., 1 / 3., 1 / 3.});
}

TEST(SamplerTest, ARowOfNothingButBansGivesItsFirstToken) {
  GenerationParams params;
  params.bad_words = {{0}, {1}};
  for (int top_k : {0, 1}) {
    params.top_k = top_k;
    ExpectSame(Probabilities(params, {1, 2}), {1, 0});
  }
}

TEST(SamplerTest, DrawsFollowTheProbabilities) {
  const FakeModel model(60, 9, 2);
  for (int round = 0; round < 4; ++round) {
    GenerationParams params;
    params.top_k = round % 2 == 0 ? 0 : 12;
    params.top_p = round < 2 ? 1 : 0.9;
    params.repetition_penalty = 1.3;
    const std::vector<float> logits = model.Logits({round});
    const std::vector<double> expected =
        NaiveProbabilities(params, NaiveProcess(params, {0}, logits));
    ProcessedRow row({params, PromptOf(params), 60},
                     Sampler::BestAsked(params, 60));
    row.Set(LogitsView(logits), 0, {0}, {});
    Sampler sampler(params, 60);
    sampler.Restrict(row);
    constexpr int kDraws = 40000;
    std::vector<int> counts(60);
    for (int i = 0; i < kDraws; ++i) {
      ++counts[sampler.Draw(UniformRandom(5, round, i))];
    }
    double chi_square = 0;
    int cells = 0;
    for (int id = 0; id < 60; ++id) {
      if (expected[id] == 0) {
        EXPECT_EQ(counts[id], 0);
        continue;
      }
      const double off = counts[id] - kDraws * expected[id];
      chi_square += off * off / (kDraws * expected[id]);
      ++cells;
    }
    // The mean and 4 standard deviations of a chi-square variable.
    EXPECT_LT(chi_square, cells - 1 + 4 * std::sqrt(2.0 * (cells - 1)));
  }
}

TEST(SamplerTest, EndsOfTheUnitInterval) {
  GenerationParams params;
  params.top_k = 0;
  ProcessedRow row({params, PromptOf(params), 3}, 1);
  const std::vector<float> logits = {kMinusInf, 1, 1};
  row.Set(LogitsView(logits), 0, {0}, {});
  Sampler sampler(params, 3);
  sampler.Restrict(row);
  EXPECT_EQ(sampler.Draw(0), 1);
  EXPECT_EQ(sampler.Draw(0.49), 1);
  EXPECT_EQ(sampler.Draw(0.51), 2);
  EXPECT_EQ(sampler.Draw(1 - 0x1p-53), 2);
}

}  // namespace
}  // namespace attend
