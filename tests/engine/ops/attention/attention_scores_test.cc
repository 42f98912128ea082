// Attention whose scores are capped or grow with distance, with holes in the
// source and without.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/ops/attention/attention_cache.h"
#include "tests/engine/ops/attention/attention_case.h"
#include "tests/engine/ops/attention/naive_attention.h"

namespace attend {
namespace {

constexpr int kChunk = 512;

using AttentionScoresTest = AttentionIsaTest;
INSTANTIATE_TEST_SUITE_P(AllIsas, AttentionScoresTest, kAttentionIsas,
                         NameOfIsa);

TEST_P(AttentionScoresTest, SlopesEqualTheNaiveForm) {
  const auto alone = MakeCompute(1);
  const auto two = MakeCompute(2);
  const std::vector<Compute*> teams = {alone.get(), two.get()};
  for (const bool holes : {false, true})
    for (const bool causal : {false, true}) {
      for (const int head_dim : {7, 12}) {
        ExpectCase({.shape = {3, 3, head_dim, 45, 45},
                    .causal = causal,
                    .holes = holes,
                    .slopes = true},
                   teams);
      }
      ExpectCase({.shape = {9, 3, 16, 1, 70},
                  .position = 69,
                  .causal = causal,
                  .holes = holes,
                  .slopes = true},
                 teams);
    }
}

TEST_P(AttentionScoresTest, CapsEqualTheNaiveForm) {
  const auto alone = MakeCompute(1);
  const auto two = MakeCompute(2);
  const std::vector<Compute*> teams = {alone.get(), two.get()};
  // The least makes almost all scores equal.
  for (const float softcap : {0.01f, 1.0f, 50.0f})
    for (const bool causal : {false, true}) {
      for (const int head_dim : {7, 12}) {
        ExpectCase({.shape = {4, 2, head_dim, 45, 45},
                    .causal = causal,
                    .softcap = softcap},
                   teams);
      }
      ExpectCase({.shape = {9, 3, 16, 1, 70},
                  .position = 69,
                  .causal = causal,
                  .softcap = softcap},
                 teams);
    }
}

// The cap comes before what is added.
TEST_P(AttentionScoresTest, AllOfThemInWindowsAcrossChunks) {
  const auto alone = MakeCompute(1);
  const auto three = MakeCompute(3);
  for (const bool causal : {false, true})
    for (const int window : {0, 64, kChunk + 90}) {
      const std::vector<Compute*> teams = {alone.get(), three.get()};
      AttentionCase c = {.shape = {2, 1, 8, 40, 2 * kChunk + 100},
                         .position = kChunk - 33,
                         .causal = causal,
                         .window = window,
                         .max_distance = 40,
                         .holes = window == 64,
                         .slopes = true,
                         .softcap = 2};
      ExpectCase(c, teams);
      // Few rows of heads that share keys, cut in the middle of a row.
      c.shape = {10, 2, 8, 5, 2 * kChunk + 100};
      c.position = 2 * kChunk + 60;
      ExpectCase(c, teams);
      ExpectCase({.shape = {3, 1, 8, 1, 2 * kChunk + 100},
                  .position = 2 * kChunk + 60,
                  .causal = causal,
                  .window = window,
                  .slopes = true,
                  .softcap = 2},
                 teams);
    }
}

// Nor does a cap or a slope make anything but a finite score of one that
// overflows.
TEST_P(AttentionScoresTest, ScoresThatOverflow) {
  const auto compute = MakeCompute();
  AttentionInputs in({1, 1, 8, 2, 3}, 1);
  std::fill(in.query.begin(), in.query.end(), 1e30f);
  std::fill_n(in.key.begin(), 8, 1e30f);
  std::fill_n(in.key.begin() + 8, 16, -1e30f);
  const Cache cache(*compute, in, {FirstTokens(3)});
  const std::vector<AttentionPiece> pieces = {
      {.rows = 2, .blocks = cache.blocks(0), .keys = 3}};
  AttentionRules scores;
  const float slope = 1e38f;
  scores.slopes = &slope;
  for (const float x : Attend(*compute, in, cache, pieces, scores)) {
    EXPECT_TRUE(std::isfinite(x));
  }
  scores.slopes = nullptr;
  scores.softcap = 100;  // e^-200 beside 1
  const std::vector<float> dst = Attend(*compute, in, cache, pieces, scores);
  for (size_t i = 0; i < dst.size(); ++i) EXPECT_EQ(dst[i], in.value[i % 8]);
}

}  // namespace
}  // namespace attend
