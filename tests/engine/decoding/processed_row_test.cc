#include "engine/decoding/processed_row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/decoding/fake_model.h"
#include "tests/engine/decoding/naive_processors.h"

namespace attend {
namespace {

constexpr int kVocab = 23;

// Params by number: every on/off combination of the processors.
GenerationParams Params(int bits) {
  GenerationParams params;
  params.max_new_tokens = 12;
  params.eos_ids = {2};
  if (bits & 1) params.repetition_penalty = 1.7;
  if (bits & 2) params.frequency_penalty = 0.3;
  if (bits & 4) params.no_repeat_ngram_size = 1 + bits % 3;
  if (bits & 8) params.bad_words = {{0}, {5}, {4, 6}, {7, 7, 1}};
  if (bits & 16) params.min_new_tokens = 4;
  if (bits & 32) params.renormalize_logits = true;
  if (bits & 64) {
    params.sequence_bias = {
        {{5}, 4}, {{4, 3}, 1.5}, {{3}, -2}, {{2, 2, 11}, 9}, {{5}, -0.5}};
    params.suppress_tokens = {9, 17};
    params.begin_suppress_tokens = {3, 12};
  }
  return params;
}

std::vector<TokenScore> Sorted(const std::vector<float>& scores) {
  std::vector<TokenScore> all;
  for (int id = 0; id < static_cast<int>(scores.size()); ++id) {
    all.push_back({id, scores[id]});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.score > b.score;
  });
  return all;
}

TEST(ProcessedRowTest, EqualsTheWholeRowProcessed) {
  const FakeModel model(kVocab, 1);
  for (int bits = 0; bits < 128; ++bits) {
    const GenerationParams params = Params(bits);
    std::vector<int> tokens = {0};
    for (int step = 0; step < 11; ++step) {
      tokens.push_back(2 + (7 * bits + step * step) % 6);
      const std::vector<float> logits = model.Logits(tokens);
      std::vector<float> expected =
          NaiveProcess(params, tokens, LogSoftmax(logits));
      if (params.renormalize_logits) expected = LogSoftmax(expected);
      const std::vector<TokenScore> sorted = Sorted(expected);

      ProcessedRow row({params, PromptOf(params), kVocab}, kVocab);
      const LogitsView view(logits);
      row.Set(view, view.LogSumExp(), tokens, {.normalize = true});
      std::vector<TokenScore> all;
      row.CopyAll(all);
      for (int n : {1, 4, kVocab, kVocab + 5}) {
        const auto best = row.Best(n);
        ASSERT_EQ(best.size(), static_cast<size_t>(std::min(n, kVocab)));
        for (size_t i = 0; i < best.size(); ++i) {
          ASSERT_EQ(best[i].id, sorted[i].id) << bits << " " << n << " " << i;
          if (std::isinf(sorted[i].score)) {
            ASSERT_EQ(best[i].score, sorted[i].score);
          } else {
            ASSERT_NEAR(best[i].score, sorted[i].score, 1e-5);
          }
          ASSERT_EQ(best[i].score, all[best[i].id].score);
        }
      }
    }
  }
}

TEST(ProcessedRowTest, BansOfAllTheBestLeaveTheRest) {
  GenerationParams params;
  std::vector<float> logits;
  for (int id = 0; id < 100; ++id) {
    logits.push_back(-id);
    if (id < 60) params.bad_words.push_back({id});
  }
  ProcessedRow row({params, PromptOf(params), 100}, 2);
  row.Set(LogitsView(logits), 0, {0}, {});
  EXPECT_EQ(row.Best(2)[0].id, 60);
  EXPECT_EQ(row.Best(2)[1].id, 61);
}

TEST(ProcessedRowTest, RenormalizesWhenTheBannedHoldNearlyAll) {
  GenerationParams params;
  params.renormalize_logits = true;
  params.bad_words = {{0}};
  const std::vector<float> logits = {40, 1, 1, 1};
  ProcessedRow row({params, PromptOf(params), 4}, 4);
  const LogitsView view(logits);
  row.Set(view, view.LogSumExp(), {3}, {.normalize = true});
  EXPECT_NEAR(row.Best(1)[0].score, std::log(1 / 3.0), 1e-5);
}

TEST(ProcessedRowTest, ForcedTokenCostsNothing) {
  GenerationParams params;
  params.forced_bos_id = 3;
  params.renormalize_logits = true;
  const std::vector<float> logits = {5, 1, 1, 1};
  ProcessedRow row({params, PromptOf(params), 4}, 4);
  const LogitsView view(logits);
  row.Set(view, view.LogSumExp(), {0}, {.normalize = true});
  const auto best = row.Best(3);
  EXPECT_EQ(best[0].id, 3);
  EXPECT_EQ(best[0].score, 0);
  EXPECT_TRUE(std::isinf(best[1].score));
  EXPECT_TRUE(std::isinf(best[2].score));
}

TEST(ProcessedRowTest, NothingButBannedOrNanIsAnOrder) {
  GenerationParams params;
  params.renormalize_logits = true;
  params.bad_words = {{0}, {1}, {2}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits = {1, 2, 3};
  ProcessedRow row({params, PromptOf(params), 3}, 3);
  row.Set(LogitsView(logits), LogitsView(logits).LogSumExp(), {0},
          {.normalize = true});
  EXPECT_EQ(row.Best(2)[0].id, 0);
  const std::vector<float> broken = {nan, 2, nan};
  row.Set(LogitsView(broken), LogitsView(broken).LogSumExp(), {0},
          {.normalize = true});
  EXPECT_EQ(row.Best(3).size(), 3u);
  EXPECT_FALSE(std::isnan(row.Best(3)[2].score));
}

}  // namespace
}  // namespace attend
