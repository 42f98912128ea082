#include "engine/ops/logits/listed_projection.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engine/ops/logits/projection.h"
#include "engine/tensor/stored_rows.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/logits/projection_fixture.h"
#include "tests/engine/ops/test_exec.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> Normal(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// `count` of the ids below `vocab`, ascending.
std::vector<int> SomeIds(int vocab, int count, unsigned seed) {
  std::vector<int> ids(vocab);
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), std::mt19937(seed));
  ids.resize(count);
  std::sort(ids.begin(), ids.end());
  return ids;
}

struct Shape {
  int hidden = 64;
  int vocab = 1300;
  bool bias = true;
  float softcap = 0;
};

// Both projections of the same weights.
struct Both {
  Both(ComputeType number, const Shape& s, int threads, int most_rows)
      : shape(s),
        dtype(number),
        max_rows(most_rows),
        exec(threads),
        weights(Normal(s.vocab * s.hidden, 1)),
        bias(Normal(s.bias ? s.vocab : 0, 2)),
        src(Normal(most_rows * s.hidden, 3)),
        operand(number, most_rows, s.hidden),
        stored({weights.data(), s.vocab, s.hidden}),
        listed(exec.primitives, number, stored, bias, s.softcap),
        all(*Projection::Create(exec.primitives, number, stored, Bias(),
                                most_rows, s.softcap)) {}

  Buffer<float> Bias() const {
    Buffer<float> copy(bias.size());
    std::copy(bias.begin(), bias.end(), copy.data());
    return copy;
  }
  // Rows from `first` on; valid until the next call.
  Operand Rows(int first, int rows) {
    const Matrix floats = {src.data() + first * shape.hidden, rows,
                           shape.hidden};
    const Operand made = operand.Of(floats);
    MakeOperand(exec.compute, floats, made);
    return made;
  }
  LogitsBuffer NewBuffer() {
    return {max_rows, shape.vocab, exec.compute.team().size()};
  }
  // As a transformer computes rows of both kinds.
  void Run(const Operand& rows, absl::Span<const LogitsNeed> needs,
           LogitsBuffer& dst) {
    ASSERT_TRUE(all.Run(exec.context(), rows, needs, dst).ok());
    listed.Run(exec.context(), rows, needs, dst);
  }

  const Shape shape;
  const ComputeType dtype;
  const int max_rows;
  TestExec exec;
  std::vector<float> weights, bias, src;
  OperandBuffer operand;
  StoredRows stored;
  ListedProjection listed;
  Projection all;
};

class ListedProjectionTest : public ProjectionTypesTest {};

INSTANTIATE_TEST_SUITE_P(ComputeTypes, ListedProjectionTest,
                         testing::ValuesIn(kAllComputeTypes), NameOfType);

// How far logits may be apart that were made of the same numbers in another
// order, or in groups of numbers that were rounded otherwise.
float Bound(ComputeType dtype, int hidden) {
  const float products = std::sqrt(static_cast<float>(hidden));
  switch (dtype) {
    case ComputeType::kInt8:
      return 0;
    case ComputeType::kInt4:
      return 0.5f * products;
    case ComputeType::kW8:
      return 4e-2f * products;
    case ComputeType::kF32:
    case ComputeType::kBf16:
      break;
  }
  return 1e-5f * products;
}

TEST_P(ListedProjectionTest, LogitsAreThoseOfTheProjection) {
  // Whole vectors, rests of them, and less than one.
  for (const Shape& shape :
       {Shape{}, Shape{.hidden = 256, .bias = false}, Shape{.softcap = 5},
        Shape{.hidden = 67, .vocab = 131}, Shape{.hidden = 36, .vocab = 90},
        Shape{.hidden = 4, .vocab = 33}}) {
    constexpr int kRows = 9;
    Both both(GetParam(), shape, 2, kRows);
    const std::vector<LogitsNeed> whole(kRows, {.row = true});
    LogitsBuffer expected = both.NewBuffer();
    both.Run(both.Rows(0, kRows), whole, expected);
    for (const int count : {1, 7, 30, shape.vocab}) {
      const std::vector<int> ids = SomeIds(shape.vocab, count, count);
      std::vector<LogitsNeed> needs = whole;
      for (LogitsNeed& need : needs) need.listed = ids;
      LogitsBuffer found = both.NewBuffer();
      both.Run(both.Rows(0, kRows), needs, found);
      for (int row = 0; row < kRows; ++row) {
        ASSERT_TRUE(found.view(row).finite());
        for (int id = 0; id < shape.vocab; ++id) {
          const float logit = found.view(row).Row()[id];
          if (std::binary_search(ids.begin(), ids.end(), id)) {
            ASSERT_NEAR(logit, expected.view(row).Row()[id],
                        Bound(GetParam(), shape.hidden))
                << shape.hidden << " " << row << " " << id;
          } else {
            ASSERT_EQ(logit, -kInf);
          }
        }
      }
    }
  }
}

// What a row with -inf for all other tokens says.
void ExpectAnswersOf(absl::Span<const float> row, const LogitsNeed& need,
                     const LogitsView& view) {
  const LogitsView naive(row);
  ASSERT_EQ(view.vocab(), naive.vocab());
  EXPECT_TRUE(view.finite());
  if (need.log_sum_exp) {
    double sum = 0;
    for (const float x : row) sum += std::exp(static_cast<double>(x));
    EXPECT_NEAR(view.LogSumExp(), std::log(sum), 1e-5);
  }
  std::vector<TokenScore> expected(need.top);
  std::vector<TokenScore> found(need.top);
  naive.Top(absl::MakeSpan(expected));
  view.Top(absl::MakeSpan(found));
  for (int i = 0; i < need.top; ++i) {
    ASSERT_EQ(found[i].id, expected[i].id) << i;
    ASSERT_EQ(found[i].score, expected[i].score);
    ASSERT_EQ(view.At(found[i].id), found[i].score);
  }
  if (NeedsRow(need, expected)) {
    ASSERT_EQ(view.Row(), row);
  }
}

TEST_P(ListedProjectionTest, AnswersAreThoseOfARowWithoutTheOtherTokens) {
  constexpr int kRows = 20;
  const std::vector<LogitsNeed> kinds = {{},
                                         {.top = 1},
                                         {.top = 1, .log_sum_exp = true},
                                         {.top = 12, .log_sum_exp = true},
                                         {.top = 12, .row = true},
                                         {.top = 9, .tie_margin = 1},
                                         {.top = 128, .tie_margin = 1},
                                         {.top = 200},
                                         {.log_sum_exp = true},
                                         {.row = true}};
  for (const int threads : {1, 3}) {
    Both both(GetParam(), {}, threads, kRows);
    for (const int count : {1, 5, 9, 150, 700, 1300}) {
      const std::vector<int> ids = SomeIds(1300, count, count);
      const std::vector<LogitsNeed> whole(kRows, {.listed = ids, .row = true});
      LogitsBuffer rows = both.NewBuffer();
      both.Run(both.Rows(0, kRows), whole, rows);
      std::vector<LogitsNeed> needs;
      for (int row = 0; row < kRows; ++row) {
        needs.push_back(kinds[row % kinds.size()]);
        needs.back().listed = ids;
      }
      LogitsBuffer found = both.NewBuffer();
      both.Run(both.Rows(0, kRows), needs, found);
      for (int row = 0; row < kRows; ++row) {
        SCOPED_TRACE(testing::Message() << count << " ids, row " << row);
        ExpectAnswersOf(rows.view(row).Row(), needs[row], found.view(row));
      }
    }
  }
}

TEST_P(ListedProjectionTest, ARowHasTheSameBitsInAnyCompany) {
  constexpr int kRows = 40;
  const Shape shape = {.hidden = 100};
  // Rows of several lists, some of the same one, and rows without.
  std::vector<std::vector<int>> lists;
  for (const int count : {1, 130, 600, 1290}) {
    lists.push_back(SomeIds(shape.vocab, count, count));
  }
  std::vector<LogitsNeed> needs;
  for (int row = 0; row < kRows; ++row) {
    LogitsNeed need = {.top = 3, .log_sum_exp = true, .row = true};
    if (row % 7 != 0) need.listed = lists[row / 3 % lists.size()];
    needs.push_back(need);
  }
  Both one(GetParam(), shape, 1, kRows);
  for (const int threads : {1, 2, 3}) {
    Both several(GetParam(), shape, threads, kRows);
    LogitsBuffer together = several.NewBuffer();
    several.Run(several.Rows(0, kRows), needs, together);
    for (int row = 0; row < kRows; ++row) {
      // Older instructions promise nothing of rows without a list.
      if (needs[row].listed.empty() && TestIsa() < Isa::kAvx2) continue;
      LogitsBuffer alone = one.NewBuffer();
      one.Run(one.Rows(row, 1), absl::MakeSpan(needs).subspan(row, 1), alone);
      ASSERT_EQ(together.view(row).Row(), alone.view(0).Row()) << row;
      ASSERT_EQ(together.view(row).LogSumExp(), alone.view(0).LogSumExp());
    }
  }
}

TEST_P(ListedProjectionTest, OnlyARowThatIsNotFiniteSaysSo) {
  constexpr int kRows = 12;
  Both both(GetParam(), {}, 2, kRows);
  const std::vector<int> ids = SomeIds(1300, 300, 1);
  both.src[5 * both.shape.hidden + 17] = std::nanf("");
  for (LogitsNeed need : {LogitsNeed{.top = 1}, LogitsNeed{.log_sum_exp = true},
                          LogitsNeed{.row = true}}) {
    need.listed = ids;
    const std::vector<LogitsNeed> needs(kRows, need);
    LogitsBuffer found = both.NewBuffer();
    both.Run(both.Rows(0, kRows), needs, found);
    for (int row = 0; row < kRows; ++row) {
      EXPECT_EQ(found.view(row).finite(), row != 5) << row;
    }
  }
}

class DotKernelTest : public testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, DotKernelTest, testing::ValuesIn(AllIsas()),
                         [](const auto& isa) {
                           return std::string(IsaName(isa.param));
                         });

TEST_P(DotKernelTest, GivesSumsOfProducts) {
  if (GetParam() > DetectIsa()) GTEST_SKIP() << "not on this machine";
  constexpr int kVocab = 50;
  for (const int cols : {1, 3, 16, 37, 64, 515}) {
    const std::vector<float> weights = Normal(kVocab * cols, 1);
    const std::vector<float> src = Normal(cols, 2);
    for (const int count : {1, 7, 8, 9, 50}) {
      const std::vector<int> ids = SomeIds(kVocab, count, count);
      std::vector<float> found(count, kInf);
      DotKernelFor(ComputeType::kF32, GetParam())(
          {.src = src.data(),
           .weights = reinterpret_cast<const char*>(weights.data()),
           .row_bytes = sizeof(float) * cols,
           .cols = cols,
           .ids = ids,
           .dst = found.data()});
      for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int k = 0; k < cols; ++k) {
          sum += double{src[k]} * weights[ids[i] * cols + k];
        }
        ASSERT_NEAR(found[i], sum, 2e-6 * cols) << cols << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace attend
