#include "engine/ops/logits/projection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/compute/compute.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/stored_rows.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/logits/projection_fixture.h"
#include "tests/engine/ops/matmul/naive_spread.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

class ProjectionTest : public ProjectionTypesTest {};

INSTANTIATE_TEST_SUITE_P(ComputeTypes, ProjectionTest, kProjectionTypes,
                         NameOfType);

TEST_P(ProjectionTest, GivesItsWeightsBackAsTheDtypeRoundsThem) {
  // Whole blocks and units of four bytes, and not.
  for (const auto& [hidden, vocab] :
       {std::pair(64, 128), {67, 131}, {1, 1}, {200, 70}, {576, 65}}) {
    for (const int threads : {1, 3}) {
      ProjectionFixture f(GetParam(), threads, hidden, vocab, 4);
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

TEST_P(ProjectionTest, RowsAreTheProductAndTheBias) {
  for (const auto& [k, n] :
       std::vector<std::pair<int, int>>{{7, 5}, {33, 500}, {16, 1300}}) {
    ProjectionFixture f(GetParam(), 2, k, n, 70);
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
  ProjectionFixture f(GetParam(), 2, 8, 40, 1);
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

TEST_P(ProjectionTest, ColumnsMayBePrecise) {
  if (GetParam() != ComputeType::kInt8) GTEST_SKIP() << "none is rounded twice";
  constexpr int kHidden = 64;
  constexpr int kVocab = 1100;
  ProjectionFixture f(GetParam(), 2, kHidden, kVocab, 1);
  std::fill_n(f.bias.data(), kVocab, 0.0f);
  // One number alone, a multiple of 127, loses nothing: logits are multiples of
  // the first weights.
  constexpr float kNumber = 127.0f / 128;
  std::fill_n(f.src.data(), kHidden, 0.0f);
  f.src[0] = kNumber;
  const Projection projection = f.Make(/*softcap=*/0, /*precise=*/{0, 700});
  LogitsBuffer logits = f.NewBuffer(1);
  ASSERT_TRUE(
      projection.Run(f.exec.context(), f.Rows(0, 1), {{.row = true}}, logits)
          .ok());
  float precise = 0;
  float others = 0;
  for (int c = 0; c < kVocab; ++c) {
    float& most = c < 700 ? precise : others;
    const float exact = kNumber * f.weights[size_t{kHidden} * c];
    most = std::max(most, std::abs(logits.view(0).Row()[c] - exact));
  }
  EXPECT_LT(precise, others / 100);
}

TEST(ProjectionTypeTest, TypeThatTheInstructionsLackIsRefused) {
  Compute compute({.threads = 1, .max_isa = Isa::kBaseline});
  Primitives primitives(compute);
  const Buffer<float> weights = RandomNumbers(4, 4, 1);
  EXPECT_EQ(
      Projection::Create(primitives, ComputeType::kInt8,
                         StoredRows({weights.data(), 4, 4}), Buffer<float>(), 1)
          .status()
          .code(),
      absl::StatusCode::kFailedPrecondition);
}

// Of all answers: the row, its list, its sum, and the row that ties call for.
TEST_P(ProjectionTest, CapsLogitsWithTheirBias) {
  for (const int n : {5, 700, 33001}) {
    ProjectionFixture f(GetParam(), 2, 16, n, 20);
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
  ProjectionFixture f(GetParam(), 2, 8, n, 1);
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

// oneDNN gives this with AVX-512 only.
TEST_P(ProjectionTest, BitsDoNotDependOnCompanyOrTeam) {
  if (TestIsa() < Isa::kAvx2) GTEST_SKIP() << "not promised below AVX2";
  const LogitsNeed need = {.top = 5, .log_sum_exp = true, .row = true};
  // Enough columns for wide slices with two members, not with three.
  const int n = 33000;
  std::vector<float> alone;
  std::vector<float> alone_sums;
  for (int threads : {1, 2, 3}) {
    ProjectionFixture f(GetParam(), threads, 48, n, 128);
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
  ProjectionFixture f(GetParam(), 2, 8, 100, 1);
  const Projection projection = f.Make();
  LogitsBuffer buffer = f.NewBuffer(1);
  EXPECT_TRUE(projection.Run(f.exec.context(), f.Rows(0, 0), {}, buffer).ok());
}

}  // namespace
}  // namespace attend
