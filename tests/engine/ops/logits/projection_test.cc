#include "engine/ops/logits/projection.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/logits/logits_kernel.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/stored_rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/matmul/naive_spread.h"
#include "tests/engine/ops/test_exec.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

Buffer<float> Random(int rows, int cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Buffer<float> values(static_cast<size_t>(rows) * cols);
  for (size_t i = 0; i < values.size(); ++i) values[i] = normal(generator);
  return values;
}

// A projection's weights, and rows for it.
struct Fixture {
  Fixture(ComputeType number, int threads, int hidden, int vocab, int most_rows)
      : exec(threads),
        dtype(number),
        k(hidden),
        n(vocab),
        max_rows(most_rows),
        weights(Random(n, k, 1)),
        src(Random(max_rows, k, 2)),
        bias(Random(1, n, 3)),
        operand(dtype, max_rows, k) {}

  Projection Make(float softcap = 0) {
    Buffer<float> copy(n);
    std::copy_n(bias.data(), n, copy.data());
    auto projection = Projection::Create(exec.primitives, dtype,
                                         StoredRows({weights.data(), n, k}),
                                         std::move(copy), max_rows, softcap);
    EXPECT_TRUE(projection.ok()) << projection.status();
    return *std::move(projection);
  }
  // Valid until the next call.
  Operand Rows(int first, int rows) {
    const Matrix floats = {src.data() + static_cast<size_t>(first) * k, rows,
                           k};
    const Operand made = operand.Of(floats);
    MakeOperand(exec.compute, floats, made);
    return made;
  }

  LogitsBuffer NewBuffer(int rows) {
    return {rows, n, exec.compute.team().size()};
  }

  TestExec exec;
  const ComputeType dtype;
  const int k;
  const int n;
  const int max_rows;
  Buffer<float> weights;
  Buffer<float> src;
  Buffer<float> bias;
  OperandBuffer operand;
};

class ProjectionTest : public testing::TestWithParam<ComputeType> {
 protected:
  void SetUp() override {
    const absl::Status status = CheckComputeType(GetParam(), TestIsa());
    if (!status.ok()) GTEST_SKIP() << status;
  }
};

INSTANTIATE_TEST_SUITE_P(ComputeTypes, ProjectionTest,
                         testing::Values(ComputeType::kF32, ComputeType::kBf16,
                                         ComputeType::kInt8),
                         [](const auto& test) {
                           return std::string(TypeName(test.param));
                         });

TEST_P(ProjectionTest, GivesItsWeightsBackAsTheDtypeRoundsThem) {
  // Whole blocks and units of four bytes, and not.
  for (const auto& [hidden, vocab] :
       {std::pair(64, 128), {67, 131}, {1, 1}, {200, 70}, {576, 65}}) {
    for (const int threads : {1, 3}) {
      Fixture f(GetParam(), threads, hidden, vocab, 4);
      const std::shared_ptr<const RowSource> weights = f.Make().weights();
      ASSERT_EQ(weights->rows(), vocab);
      ASSERT_EQ(weights->cols(), hidden);
      std::vector<float> read(hidden * vocab);
      weights->Read(0, {read.data(), vocab, hidden});
      for (int row = 0; row < vocab; ++row) {
        const float* const stored = f.weights.data() + row * hidden;
        std::vector<float> expected(stored, stored + hidden);
        std::vector<float> found(hidden);
        weights->Read(row, {found.data(), 1, hidden});
        for (int i = 0; i < hidden; ++i) {
          ASSERT_EQ(read[row * hidden + i], found[i]);
        }
        const bool int8 = GetParam() == ComputeType::kInt8;
        if (int8) {  // spread rows are rounded
          expected = SpreadNaively(expected.data(), hidden);
          RoundInt8WeightsNaively(expected);
          found = SpreadNaively(found.data(), hidden);
        }
        for (int i = 0; i < hidden; ++i) {
          // In int8 what spreading once more rounds.
          const float bound = GetParam() == ComputeType::kF32 ? 0
                              : int8                          ? 1e-4f
                                     : std::abs(expected[i]) / 256;
          ASSERT_NEAR(found[i], expected[i], bound) << row << " " << i;
        }
      }
    }
  }
}

// What must be found in a row that exists: the folds over it, which
// logits_view_test compares with plain loops.
void ExpectFoldsOf(absl::Span<const float> row, const LogitsNeed& need,
                   const LogitsView& view) {
  const LogitsKernels kernels = LogitsKernels::For(TestIsa());
  EXPECT_EQ(view.vocab(), static_cast<int>(row.size()));
  if (need.log_sum_exp) {
    EXPECT_EQ(view.LogSumExp(), LogSumExp(kernels, row));
  }
  std::vector<TokenScore> expected(need.top);
  std::vector<TokenScore> found(need.top);
  Top(kernels, row, absl::MakeSpan(expected));
  view.Top(absl::MakeSpan(found));
  for (int i = 0; i < need.top; ++i) {
    ASSERT_EQ(found[i].id, expected[i].id) << i;
    ASSERT_EQ(std::memcmp(&found[i].score, &row[found[i].id], sizeof(float)), 0)
        << i;
    const float at = view.At(found[i].id);
    ASSERT_EQ(std::memcmp(&at, &row[found[i].id], sizeof(float)), 0) << i;
  }
}

TEST_P(ProjectionTest, RowsAreTheProductAndTheBias) {
  for (const auto& [k, n] :
       std::vector<std::pair<int, int>>{{7, 5}, {33, 500}, {16, 1300}}) {
    Fixture f(GetParam(), 2, k, n, 70);
    const Projection projection = f.Make();
    EXPECT_EQ(projection.in(), k);
    EXPECT_EQ(projection.out(), n);
    const Operand src = f.Rows(0, 70);
    const auto matmul =
        MatMul::Create(f.exec.primitives, GetParam(),
                       StoredRows({f.weights.data(), n, k}), 70);
    ASSERT_TRUE(matmul.ok()) << matmul.status();
    std::vector<float> expected(70 * n);
    ASSERT_TRUE(matmul
                    ->Run(f.exec.context(), src, {.bias = f.bias.data()},
                          {expected.data(), 70, n})
                    .ok());
    LogitsBuffer buffer = f.NewBuffer(70);
    const std::vector<LogitsNeed> needs(70, {.row = true});
    ASSERT_TRUE(projection.Run(f.exec.context(), src, needs, buffer).ok());
    for (int r = 0; r < 70; ++r) {
      const absl::Span<const float> row = buffer.view(r).Row();
      for (int c = 0; c < n; ++c) {
        ASSERT_NEAR(row[c], expected[r * n + c], 1e-5 * k) << r << " " << c;
      }
    }
  }
}

TEST_P(ProjectionTest, ABiasIsNotNeeded) {
  Fixture f(GetParam(), 2, 8, 40, 1);
  std::fill_n(f.bias.data(), 40, 0.0f);
  const Projection with = f.Make();
  const auto without = Projection::Create(f.exec.primitives, GetParam(),
                                          StoredRows({f.weights.data(), 40, 8}),
                                          Buffer<float>(), 1);
  ASSERT_TRUE(without.ok());
  const LogitsNeed need = {.row = true};
  LogitsBuffer a = f.NewBuffer(1);
  LogitsBuffer b = f.NewBuffer(1);
  ASSERT_TRUE(with.Run(f.exec.context(), f.Rows(0, 1), {need}, a).ok());
  ASSERT_TRUE(without->Run(f.exec.context(), f.Rows(0, 1), {need}, b).ok());
  EXPECT_EQ(a.view(0).Row(), b.view(0).Row());
}

TEST(ProjectionTypeTest, TypeThatTheInstructionsLackIsRefused) {
  Compute compute({.threads = 1, .max_isa = Isa::kBaseline});
  Primitives primitives(compute);
  const Buffer<float> weights = Random(4, 4, 1);
  EXPECT_EQ(
      Projection::Create(primitives, ComputeType::kInt8,
                         StoredRows({weights.data(), 4, 4}), Buffer<float>(), 1)
          .status()
          .code(),
      absl::StatusCode::kFailedPrecondition);
}

// Every row is asked for something else, and once more for all of it.
TEST_P(ProjectionTest, FoldedAnswersAreThoseOfTheRow) {
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
      Fixture f(GetParam(), threads, 9, n, 80);
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
TEST_P(ProjectionTest, TheBestOfAllowedTokensAreThoseOfTheRow) {
  std::mt19937 random(17);
  for (int threads : {1, 3}) {
    for (int n : {1, 31, 33, 513, 1700, 33001}) {
      Fixture f(GetParam(), threads, 9, n, 20);
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
TEST_P(ProjectionTest, TiesInfinitiesAndNanAreFoldedAsInARow) {
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
      Fixture f(GetParam(), threads, 4, n, 2);
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

// Of all answers: the row, its list, its sum, and the row that ties call for.
TEST_P(ProjectionTest, CapsLogitsWithTheirBias) {
  for (const int n : {5, 700, 33001}) {
    Fixture f(GetParam(), 2, 16, n, 20);
    const Projection plain = f.Make();
    const float softcap = 3;
    const Projection capped = f.Make(softcap);
    LogitsBuffer logits = f.NewBuffer(20);
    LogitsBuffer whole = f.NewBuffer(20);
    LogitsBuffer folded = f.NewBuffer(20);
    const Operand src = f.Rows(0, 20);
    const LogitsNeed need = {.top = std::min(n, 9), .log_sum_exp = true};
    const std::vector<LogitsNeed> rows(20, {.row = true});
    const std::vector<LogitsNeed> needs(20, need);
    ASSERT_TRUE(plain.Run(f.exec.context(), src, rows, logits).ok());
    ASSERT_TRUE(capped.Run(f.exec.context(), src, rows, whole).ok());
    ASSERT_TRUE(capped.Run(f.exec.context(), src, needs, folded).ok());
    for (int r = 0; r < 20; ++r) {
      const absl::Span<const float> row = whole.view(r).Row();
      for (int c = 0; c < n; ++c) {
        const double x = logits.view(r).Row()[c];
        ASSERT_NEAR(row[c], softcap * std::tanh(x / softcap), 2e-6) << c;
      }
      ExpectFoldsOf(row, need, folded.view(r));
    }
  }
}

// Far above the cap all logits are the cap.
TEST_P(ProjectionTest, CappedLogitsThatTie) {
  const int n = 1500;
  Fixture f(GetParam(), 2, 8, n, 1);
  std::fill_n(f.weights.data(), f.weights.size(), 0.0f);
  for (int i = 0; i < n; ++i) f.bias[i] = i < 3 ? -kInf : 1000.0f + i;
  f.bias[3] = kNan;
  const Projection projection = f.Make(30);
  LogitsBuffer buffer = f.NewBuffer(1);
  const LogitsNeed need = {.top = 20, .tie_margin = 8};
  ASSERT_TRUE(
      projection.Run(f.exec.context(), f.Rows(0, 1), {need}, buffer).ok());
  ASSERT_TRUE(buffer.entry(0).row);
  const absl::Span<const float> row = buffer.view(0).Row();
  for (int i = 0; i < n; ++i) {
    if (i == 3) {
      EXPECT_TRUE(std::isnan(row[i]));
    } else {
      EXPECT_EQ(row[i], i < 3 ? -30 : 30) << i;
    }
  }
}

TEST_P(ProjectionTest, RowsNobodyAskedForAreNotTouched) {
  const int n = 700;
  Fixture f(GetParam(), 2, 8, n, 20);
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

TEST_P(ProjectionTest, ARowWhoseListEndsInTiesIsThere) {
  const int n = 1500;
  Fixture f(GetParam(), 2, 8, n, 3);
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

// oneDNN gives this with AVX-512 only.
TEST_P(ProjectionTest, BitsDoNotDependOnCompanyOrTeam) {
  if (TestIsa() < Isa::kAvx2) GTEST_SKIP() << "not promised below AVX2";
  const LogitsNeed need = {.top = 5, .log_sum_exp = true, .row = true};
  // Enough columns for wide slices with two members, not with three.
  const int n = 33000;
  std::vector<float> alone;
  std::vector<float> alone_sums;
  for (int threads : {1, 2, 3}) {
    Fixture f(GetParam(), threads, 48, n, 128);
    const Projection projection = f.Make();
    LogitsBuffer buffer = f.NewBuffer(128);
    for (int r = 0; threads == 1 && r < 128; ++r) {
      ASSERT_TRUE(
          projection.Run(f.exec.context(), f.Rows(r, 1), {need}, buffer).ok());
      const absl::Span<const float> row = buffer.view(0).Row();
      alone.insert(alone.end(), row.begin(), row.end());
      alone_sums.push_back(buffer.view(0).LogSumExp());
    }
    for (int rows : {1, 2, 15, 16, 17, 63, 64, 65, 100, 128}) {
      const std::vector<LogitsNeed> needs(rows, need);
      ASSERT_TRUE(
          projection.Run(f.exec.context(), f.Rows(0, rows), needs, buffer)
              .ok());
      for (int r = 0; r < rows; ++r) {
        ASSERT_EQ(std::memcmp(buffer.view(r).Row().data(),
                              &alone[static_cast<size_t>(r) * n], 4 * n),
                  0)
            << rows << " rows, " << threads << " threads";
        ASSERT_EQ(buffer.view(r).LogSumExp(), alone_sums[r]);
      }
    }
  }
}

TEST_P(ProjectionTest, NoRowsAreNoWork) {
  Fixture f(GetParam(), 2, 8, 100, 1);
  const Projection projection = f.Make();
  LogitsBuffer buffer = f.NewBuffer(1);
  EXPECT_TRUE(projection.Run(f.exec.context(), f.Rows(0, 0), {}, buffer).ok());
}

}  // namespace
}  // namespace attend
