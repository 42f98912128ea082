// A value that is not finite reaches every result of its row, in every dtype as
// in f32, and no other row's.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/logits/projection.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/test_exec.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> Random(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(generator);
  return values;
}

// Rows as an operand.
struct Rows {
  Rows(Compute& compute, ComputeType dtype, std::vector<float> values, int cols)
      : floats(std::move(values)),
        rows(static_cast<int>(floats.size()) / cols),
        buffer(dtype, rows, cols),
        operand(buffer.Of({floats.data(), rows, cols})) {
    MakeOperand(compute, {floats.data(), rows, cols}, operand);
  }

  std::vector<float> floats;
  const int rows;
  OperandBuffer buffer;
  const Operand operand;
};

bool SameBits(const void* a, const void* b, size_t bytes) {
  return std::memcmp(a, b, bytes) == 0;
}

class OperandIsaTest : public testing::TestWithParam<Isa> {};

TEST_P(OperandIsaTest, Int8HasNoScaleForAGroupThatIsNotFinite) {
  Compute compute({.threads = 2, .max_isa = GetParam()});
  const auto scale = [](const Rows& rows, int r, int number) {
    const Operand& operand = rows.operand;
    const Int8Group* const groups =
        Int8Row::GroupsOf(operand.row(r), operand.cols);
    return groups[number / Int8Group::kNumbers].scale;
  };
  for (const int n : {1, 3, 16, 17, 37, 64, 131, 3000}) {
    const std::vector<float> values = Random(3 * n, 1);
    const Rows clean(compute, ComputeType::kInt8, values, n);
    for (const float bad : {kNan, kInf, -kInf}) {
      for (const int at : {0, n / 2, n - 1}) {
        std::vector<float> changed = values;
        changed[n + at] = bad;
        const Rows rows(compute, ComputeType::kInt8, changed, n);
        EXPECT_TRUE(std::isnan(scale(rows, 1, at))) << bad << " at " << at;
        for (const int r : {0, 2}) {
          EXPECT_TRUE(SameBits(rows.operand.row(r), clean.operand.row(r),
                               OperandBytes(ComputeType::kInt8, n)));
        }
      }
    }
    // Nor if there is nothing else, or hardly anything.
    for (const float rest : {kNan, 0.0f, 1e-38f}) {
      std::vector<float> changed(n, rest);
      changed[n - 1] = kNan;
      const Rows rows(compute, ComputeType::kInt8, changed, n);
      EXPECT_TRUE(std::isnan(scale(rows, 0, n - 1)));
    }
  }
}

TEST_P(OperandIsaTest, Bf16KeepsWhatIsNotFinite) {
  Compute compute({.threads = 2, .max_isa = GetParam()});
  for (const int n : {1, 3, 16, 17, 37, 64, 131, 3000}) {
    const std::vector<float> values = Random(3 * n, 1);
    const Rows clean(compute, ComputeType::kBf16, values, n);
    for (const float bad : {kNan, -kNan, kInf, -kInf}) {
      for (const int at : {0, n / 2, n - 1}) {
        std::vector<float> changed = values;
        changed[n + at] = bad;
        const Rows rows(compute, ComputeType::kBf16, changed, n);
        for (int i = 0; i < 3 * n; ++i) {
          const uint16_t found =
              static_cast<const uint16_t*>(rows.operand.data)[i];
          if (i != n + at) {
            ASSERT_EQ(found,
                      static_cast<const uint16_t*>(clean.operand.data)[i]);
          } else if (std::isnan(bad)) {
            EXPECT_GT(found & 0x7fff, 0x7f80);
          } else {
            EXPECT_EQ(found, bad > 0 ? 0x7f80 : 0xff80);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, OperandIsaTest, testing::ValuesIn(AllIsas()),
                         [](const auto& test) {
                           return std::string(IsaName(test.param));
                         });

class NotFiniteTest : public testing::TestWithParam<ComputeType> {
 protected:
  void SetUp() override {
    const absl::Status status = CheckComputeType(GetParam(), TestIsa());
    if (!status.ok()) GTEST_SKIP() << status;
  }
};

INSTANTIATE_TEST_SUITE_P(ComputeTypes, NotFiniteTest,
                         testing::Values(ComputeType::kF32, ComputeType::kBf16,
                                         ComputeType::kInt8),
                         [](const auto& test) {
                           return std::string(TypeName(test.param));
                         });

// The way of a hidden state: into the residual, through norm and operand of an
// epilogue, out of the next matmul.
TEST_P(NotFiniteTest, MatMulsKeepItInItsRow) {
  constexpr int kIn = 48;
  constexpr int kHidden = 130;
  constexpr int kOut = 192;
  const std::vector<float> first_weights = Random(kHidden * kIn, 1);
  const std::vector<float> next_weights = Random(kOut * kHidden, 2);
  const std::vector<float> gamma(kHidden, 1.0f);
  const NormWeights norm = {gamma.data(), gamma.data(), 1e-5f};
  for (const int threads : {1, 2}) {
    TestExec exec(threads);
    const auto first =
        MatMul::Create(exec.primitives, GetParam(),
                       StoredRows({first_weights.data(), kHidden, kIn}), 130);
    const auto next =
        MatMul::Create(exec.primitives, GetParam(),
                       StoredRows({next_weights.data(), kOut, kHidden}), 130);
    ASSERT_TRUE(first.ok() && next.ok());
    for (const int m : {1, 2, 7, 64, 130}) {
      const Rows src(exec.compute, GetParam(), Random(m * kIn, 3), kIn);
      const auto run = [&](std::vector<float> hidden) {
        const Matrix dst = {hidden.data(), m, kHidden};
        OperandBuffer buffer(GetParam(), m, kHidden);
        const Operand operand = buffer.Of(dst);
        EXPECT_TRUE(first
                        ->Run(exec.context(), src.operand,
                              {.residual = hidden.data(),
                               .norm = &norm,
                               .operand = operand},
                              dst)
                        .ok());
        std::vector<float> out(m * kOut);
        EXPECT_TRUE(
            next->Run(exec.context(), operand, {}, {out.data(), m, kOut}).ok());
        return out;
      };
      const std::vector<float> hidden = Random(m * kHidden, 4);
      const std::vector<float> clean = run(hidden);
      for (const int row : {0, m / 2, m - 1}) {
        std::vector<float> changed = hidden;
        changed[row * kHidden + 77] = row % 2 == 0 ? kNan : kInf;
        const std::vector<float> out = run(changed);
        for (int i = 0; i < m * kOut; ++i) {
          if (i / kOut == row) {
            ASSERT_TRUE(std::isnan(out[i])) << m << " rows, row " << row;
          } else {
            ASSERT_EQ(out[i], clean[i]) << m << " rows, row " << i / kOut;
          }
        }
      }
    }
  }
}

// Nor does a weight reach another column, where a column ends inside of what is
// multiplied together.
TEST_P(NotFiniteTest, MatMulsKeepAWeightInItsColumn) {
  constexpr int kIn = 7;
  constexpr int kOut = 70;
  std::vector<float> weights = Random(kOut * kIn, 1);
  for (int column = 1; column < kOut; column += 2) {
    std::fill_n(&weights[column * kIn], kIn, kNan);
  }
  TestExec exec(1);
  const auto matmul = MatMul::Create(
      exec.primitives, GetParam(), StoredRows({weights.data(), kOut, kIn}), 3);
  ASSERT_TRUE(matmul.ok()) << matmul.status();
  const Rows src(exec.compute, GetParam(), Random(3 * kIn, 2), kIn);
  std::vector<float> out(3 * kOut);
  ASSERT_TRUE(
      matmul->Run(exec.context(), src.operand, {}, {out.data(), 3, kOut}).ok());
  for (int i = 0; i < 3 * kOut; ++i) {
    ASSERT_EQ(std::isnan(out[i]), i % kOut % 2 == 1) << i;
  }
}

TEST_P(NotFiniteTest, LogitsKeepItInTheirRow) {
  constexpr int kHidden = 48;
  constexpr int kVocab = 1300;
  const std::vector<float> weights = Random(kVocab * kHidden, 1);
  const LogitsNeed need = {.top = 3, .log_sum_exp = true, .row = true};
  for (const int threads : {1, 2}) {
    TestExec exec(threads);
    Buffer<float> bias(kVocab);
    std::fill_n(bias.data(), kVocab, 1.0f);
    const auto projection = Projection::Create(
        exec.primitives, GetParam(),
        StoredRows({weights.data(), kVocab, kHidden}), std::move(bias), 70);
    ASSERT_TRUE(projection.ok()) << projection.status();
    for (const int m : {1, 2, 20, 70}) {
      const std::vector<float> hidden = Random(m * kHidden, 2);
      const std::vector<LogitsNeed> needs(m, need);
      LogitsBuffer clean(m, kVocab, threads);
      const Rows clean_src(exec.compute, GetParam(), hidden, kHidden);
      ASSERT_TRUE(
          projection->Run(exec.context(), clean_src.operand, needs, clean)
              .ok());
      for (const int row : {0, m / 2, m - 1}) {
        std::vector<float> changed = hidden;
        changed[row * kHidden + 20] = kNan;
        const Rows src(exec.compute, GetParam(), changed, kHidden);
        LogitsBuffer found(m, kVocab, threads);
        ASSERT_TRUE(
            projection->Run(exec.context(), src.operand, needs, found).ok());
        for (int r = 0; r < m; ++r) {
          if (r == row) {
            const LogitsView view = found.view(r);
            for (const float x : view.Row()) ASSERT_TRUE(std::isnan(x));
            std::vector<TokenScore> top(3);
            view.Top(absl::MakeSpan(top));
            EXPECT_EQ(top[0].id, 0);
            EXPECT_TRUE(std::isnan(top[0].score));
          } else {
            ASSERT_TRUE(SameBits(found.view(r).Row().data(),
                                 clean.view(r).Row().data(), 4 * kVocab));
            ASSERT_EQ(found.view(r).LogSumExp(), clean.view(r).LogSumExp());
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace attend
