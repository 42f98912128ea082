// What a projection folds its rows into, against the rows themselves.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "engine/ops/logits/projection.h"
#include "engine/ops/logits/top_list.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/logits/projection_fixture.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

class ProjectionFoldsTest : public ProjectionTypesTest {};

INSTANTIATE_TEST_SUITE_P(ComputeTypes, ProjectionFoldsTest, kProjectionTypes,
                         NameOfType);

// Every row is asked for something else, and once more for all of it.
TEST_P(ProjectionFoldsTest, FoldedAnswersAreThoseOfTheRow) {
  const std::vector<LogitsNeed> kinds = {
      {.top = 1},
      {.top = 8, .log_sum_exp = true},
      {.log_sum_exp = true},
      {},
      {.top = 128},
      {.top = 3, .log_sum_exp = true, .row = true},
      {.row = true},
  };
  for (int threads : {1, 2, 3}) {
    for (int n : {1, 5, 16, 130, 511, 512, 513, 1700, 33001}) {
      ProjectionFixture f(GetParam(), threads, 9, n, 80);
      const Projection projection = f.Make();
      LogitsBuffer whole = f.NewBuffer(80);
      LogitsBuffer folded = f.NewBuffer(80);
      for (int rows : {1, 2, 7, 16, 17, 64, 65, 80}) {
        SCOPED_TRACE(testing::Message()
                     << threads << " threads, " << rows << " x " << n);
        std::vector<LogitsNeed> needs;
        for (int r = 0; r < rows; ++r) {
          needs.push_back(kinds[(r + rows) % kinds.size()]);
          needs.back().top = std::min(needs.back().top, n);
        }
        const std::vector<LogitsNeed> all(rows, {.row = true});
        const Operand src = f.Rows(0, rows);
        ASSERT_TRUE(projection.Run(f.exec.context(), src, all, whole).ok());
        ASSERT_TRUE(projection.Run(f.exec.context(), src, needs, folded).ok());
        for (int r = 0; r < rows; ++r) {
          const absl::Span<const float> row = whole.view(r).Row();
          ExpectFoldsOf(row, needs[r], folded.view(r));
          if (needs[r].row) {
            ASSERT_EQ(folded.view(r).Row(), row);
          }
        }
      }
    }
  }
}

// The best of some tokens: of none, few, most, all.
TEST_P(ProjectionFoldsTest, TheBestOfAllowedTokensAreThoseOfTheRow) {
  std::mt19937 random(17);
  for (int threads : {1, 3}) {
    for (int n : {1, 31, 33, 513, 1700, 33001}) {
      ProjectionFixture f(GetParam(), threads, 9, n, 20);
      const Projection projection = f.Make();
      LogitsBuffer buffer = f.NewBuffer(20);
      std::vector<std::vector<uint32_t>> masks;
      std::vector<LogitsNeed> needs;
      for (int r = 0; r < 20; ++r) {
        std::vector<uint32_t>& mask = masks.emplace_back((n + 31) / 32);
        const unsigned one_in = r % 5 == 0 ? 0 : 1 << (r % 5 * 3 - 3);
        for (int id = 0; id < n && one_in > 0; ++id) {
          if (random() % one_in == 0) mask[id / 32] |= 1u << (id % 32);
        }
        needs.push_back({.top = std::min(n, 1 + r * 2),
                         .allowed = mask.data(),
                         .log_sum_exp = r % 2 == 0,
                         .row = r % 3 == 0});
      }
      const std::vector<LogitsNeed> all(20, {.row = true});
      LogitsBuffer whole = f.NewBuffer(20);
      const Operand src = f.Rows(0, 20);
      ASSERT_TRUE(projection.Run(f.exec.context(), src, all, whole).ok());
      ASSERT_TRUE(projection.Run(f.exec.context(), src, needs, buffer).ok());
      for (int r = 0; r < 20; ++r) {
        const absl::Span<const float> row = whole.view(r).Row();
        std::vector<TokenScore> sorted;
        for (int id = 0; id < n; ++id) {
          if (masks[r][id / 32] >> (id % 32) & 1)
            sorted.push_back({id, row[id]});
        }
        std::sort(sorted.begin(), sorted.end(), kRanksBefore);
        std::vector<TokenScore> best(needs[r].top);
        best.resize(
            buffer.view(r).TopAllowed(needs[r].allowed, absl::MakeSpan(best)));
        ASSERT_EQ(best.size(), std::min<size_t>(sorted.size(), needs[r].top));
        for (size_t i = 0; i < best.size(); ++i) {
          ASSERT_EQ(best[i].id, sorted[i].id) << n << " " << r << " " << i;
          ASSERT_EQ(best[i].score, sorted[i].score);
        }
        if (needs[r].log_sum_exp) {
          ASSERT_NEAR(buffer.view(r).LogSumExp(), whole.view(r).LogSumExp(),
                      1e-4);
        }
        if (needs[r].row) {
          std::vector<TokenScore> raw(needs[r].top), expected(needs[r].top);
          buffer.view(r).Top(absl::MakeSpan(raw));
          whole.view(r).Top(absl::MakeSpan(expected));
          for (size_t i = 0; i < raw.size(); ++i) {
            ASSERT_EQ(raw[i].id, expected[i].id);
          }
        }
      }
    }
  }
}

// Logits that are those of the bias, in several kinds of row.
TEST_P(ProjectionFoldsTest, TiesInfinitiesAndNanAreFoldedAsInARow) {
  const int n = 2100;
  std::mt19937 random(5);
  std::vector<std::vector<float>> rows;
  for (const std::vector<float>& values : std::vector<std::vector<float>>{
           {0, 1, 2, 3},
           {1},
           {-kInf, 1, 2},
           {-kInf},
           {kNan, 1, -kInf},
           {kNan},
           {kInf, 3, kNan},
           {3e38f, -3e38f, 0},
       }) {
    rows.emplace_back();
    for (int i = 0; i < n; ++i) {
      rows.back().push_back(values[random() % values.size()]);
    }
  }
  // Lists that must give way late, and ones that never do.
  rows.push_back(std::vector<float>(n, kNan));
  std::iota(rows.back().begin() + 600, rows.back().end(), -3.0f);
  rows.push_back(rows.back());
  std::reverse(rows.back().begin(), rows.back().end());
  for (int threads : {1, 3}) {
    for (const std::vector<float>& row : rows) {
      ProjectionFixture f(GetParam(), threads, 4, n, 2);
      std::fill_n(f.weights.data(), f.weights.size(), 0.0f);
      std::copy(row.begin(), row.end(), f.bias.data());
      const Projection projection = f.Make();
      LogitsBuffer buffer = f.NewBuffer(2);
      for (int top : {1, 2, 50, 128, 600, 2100}) {
        const LogitsNeed need = {.top = top, .log_sum_exp = true};
        ASSERT_TRUE(
            projection.Run(f.exec.context(), f.Rows(0, 2), {need, need}, buffer)
                .ok());
        for (int r = 0; r < 2; ++r) ExpectFoldsOf(row, need, buffer.view(r));
      }
    }
  }
}

TEST_P(ProjectionFoldsTest, RowsNobodyAskedForAreNotTouched) {
  const int n = 700;
  ProjectionFixture f(GetParam(), 2, 8, n, 20);
  const Projection projection = f.Make();
  LogitsBuffer buffer = f.NewBuffer(20);
  for (int r = 0; r < 20; ++r) {
    std::fill_n(buffer.row(r).data(), n, 7.0f);
  }
  std::vector<LogitsNeed> needs(
      20, {.top = 12, .tie_margin = 2, .log_sum_exp = true});
  needs[5].row = true;
  ASSERT_TRUE(
      projection.Run(f.exec.context(), f.Rows(0, 20), needs, buffer).ok());
  for (int r = 0; r < 20; ++r) {
    EXPECT_EQ(std::all_of(buffer.row(r).begin(), buffer.row(r).end(),
                          [](float x) { return x == 7; }),
              r != 5);
  }
}

TEST_P(ProjectionFoldsTest, ARowWhoseListEndsInTiesIsThere) {
  const int n = 1500;
  ProjectionFixture f(GetParam(), 2, 8, n, 3);
  std::fill_n(f.weights.data(), f.weights.size(), 0.0f);
  const Projection projection = [&] {
    // 20 good ones; all others are equal.
    for (int i = 0; i < n; ++i) f.bias[i] = i < 20 ? 30 - i : 1;
    return f.Make();
  }();
  LogitsBuffer buffer = f.NewBuffer(3);
  const std::vector<LogitsNeed> needs = {{.top = 30, .tie_margin = 8},
                                         {.top = 20, .tie_margin = 8},
                                         {.top = 25, .tie_margin = 8}};
  ASSERT_TRUE(
      projection.Run(f.exec.context(), f.Rows(0, 3), needs, buffer).ok());
  ASSERT_TRUE(buffer.entry(0).row);
  EXPECT_EQ(std::memcmp(buffer.view(0).Row().data(), f.bias.data(), 4 * n), 0);
  EXPECT_FALSE(buffer.entry(1).row);
  EXPECT_FALSE(buffer.entry(2).row);
}

}  // namespace
}  // namespace attend
