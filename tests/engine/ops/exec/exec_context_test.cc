#include "engine/ops/exec/exec_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "engine/ops/exec/dnnl_primitives.h"
#include "engine/ops/logits/projection.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/stored_rows.h"
#include "tests/engine/ops/test_exec.h"

namespace attend {
namespace {

constexpr ComputeType kTypes[] = {ComputeType::kF32, ComputeType::kBf16,
                                  ComputeType::kInt8};

TEST(ExecContextTest, EachMemberHasMemoryOfItsOwn) {
  TestExec exec(3);
  exec.primitives.ReserveScratch(100);
  exec.primitives.ReserveScratch(10);
  exec.primitives.ReserveExchange(50);
  ExecContext& context = exec.context();
  EXPECT_GE(context.exchange().size(), 50u);
  for (int member : {0, 1, 2}) {
    ExecContext& alone = context.alone(member);
    EXPECT_EQ(alone.team().size(), 1);
    EXPECT_EQ(alone.isa(), context.isa());
    EXPECT_EQ(alone.first_member(), member);
    EXPECT_EQ(&alone.alone(0), &alone);
    EXPECT_EQ(alone.scratch(0).size(), 100u);
    EXPECT_EQ(alone.scratch(0).data(), context.scratch(member).data());
    EXPECT_EQ(&alone.dnnl(0), &context.dnnl(member));
    const int next = (member + 1) % 3;
    EXPECT_GE(
        std::abs(context.scratch(member).data() - context.scratch(next).data()),
        100);
    EXPECT_NE(&context.dnnl(member), &context.dnnl(next));
  }
}

Buffer<float> Random(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Buffer<float> values(count);
  std::generate_n(values.data(), count, [&] { return normal(generator); });
  return values;
}

// A gated matmul and a projection of its result, with the tokens that it lists.
class Ops {
 public:
  static constexpr int kRows = 70, kIn = 48, kWidth = 130, kVocab = 1300;

  Ops(Primitives& primitives, ComputeType type)
      : type_(type),
        gate_(MatMul::Create(primitives, type,
                             StoredRows({Random(2 * kWidth * kIn, 1).data(),
                                         2 * kWidth, kIn}),
                             kRows)
                  .value()),
        logits_(
            Projection::Create(
                primitives, type,
                StoredRows({Random(kVocab * kWidth, 2).data(), kVocab, kWidth}),
                Buffer<float>(), kRows)
                .value()) {}

  // All that is found out about `rows` rows that depend on the seed.
  std::vector<float> Run(ExecContext& context, int rows, unsigned seed) const {
    Buffer<float> src = Random(rows * kIn, seed);
    const Matrix floats = {src.data(), rows, kIn};
    OperandBuffer in(type_, rows, kIn);
    MakeOperand(context.compute(), floats, in.Of(floats));
    Buffer<float> hidden(rows * kWidth);
    const Matrix dst = {hidden.data(), rows, kWidth};
    OperandBuffer out(type_, rows, kWidth);
    EXPECT_TRUE(gate_
                    .Run(context, in.Of(floats),
                         {.activation = Activation::kSilu,
                          .gated = true,
                          .operand = out.Of(dst)},
                         dst)
                    .ok());
    const std::vector<LogitsNeed> needs(rows, {.top = 5, .log_sum_exp = true});
    LogitsBuffer buffer(rows, kVocab, context.team().size());
    EXPECT_TRUE(logits_.Run(context, out.Of(dst), needs, buffer).ok());
    std::vector<float> found(hidden.data(), hidden.data() + hidden.size());
    for (int row = 0; row < rows; ++row) {
      TokenScore top[5];
      buffer.view(row).Top(absl::MakeSpan(top));
      for (const TokenScore& token : top) {
        found.push_back(static_cast<float>(token.id));
        found.push_back(token.score);
      }
      found.push_back(buffer.view(row).LogSumExp());
    }
    return found;
  }

 private:
  ComputeType type_;
  MatMul gate_;
  Projection logits_;
};

// Hundreds of primitives would take tens of megabytes.
TEST(ExecContextTest, OwnKernelsNeedNoPrimitives) {
  if (TestIsa() < Isa::kAvx2) GTEST_SKIP() << "no own kernels";
  for (const ComputeType type : kTypes) {
    if (!CheckComputeType(type, TestIsa()).ok()) continue;
    const bool own =
        type != ComputeType::kBf16 || TestIsa() >= Isa::kAvx512Bf16;
    TestExec exec(2);
    const Buffer<float> weights = Random(200 * 64, 1);
    const StoredRows rows({weights.data(), 200, 64});
    ASSERT_TRUE(MatMul::Create(exec.primitives, type, rows, 70).ok());
    ASSERT_TRUE(
        Projection::Create(exec.primitives, type, rows, Buffer<float>(), 70)
            .ok());
    EXPECT_EQ(exec.primitives.dnnl().needs().descs.empty(), own)
        << TypeName(type);
  }
}

// Two contexts for each team size, each with threads of its own.
TEST(ExecContextTest, OpsServeSeveralContextsAtOnce) {
  constexpr int kTimes = 20;
  for (const ComputeType type : kTypes) {
    if (!CheckComputeType(type, TestIsa()).ok()) continue;
    for (const int threads : {1, 2}) {
      TestExec exec(threads);
      const Ops ops(exec.primitives, type);
      std::vector<std::vector<float>> expected;
      for (int i = 0; i < 2 * kTimes; ++i) {
        expected.push_back(ops.Run(exec.context(), 1 + i * 7 % 70, i));
      }
      const auto run = [&](int first) {
        Compute compute({.threads = threads, .max_isa = TestIsa()});
        ExecContext context(compute, exec.primitives);
        for (int i = first; i < first + kTimes; ++i) {
          const auto found = ops.Run(context, 1 + i * 7 % 70, i);
          ASSERT_EQ(found.size(), expected[i].size());
          ASSERT_EQ(std::memcmp(found.data(), expected[i].data(),
                                found.size() * sizeof(float)),
                    0)
              << TypeName(type) << ", " << threads << " threads, run " << i;
        }
      };
      std::thread other(run, kTimes);
      run(0);
      other.join();
    }
  }
}

// A context of more or fewer threads than the weights were cut for.
TEST(ExecContextTest, TheTeamMayBeOfAnotherSize) {
  if (TestIsa() < Isa::kAvx2) GTEST_SKIP() << "not promised below AVX2";
  for (const ComputeType type : kTypes) {
    if (!CheckComputeType(type, TestIsa()).ok()) continue;
    TestExec exec(2);
    const Ops ops(exec.primitives, type);
    for (const int threads : {1, 3}) {
      Compute compute({.threads = threads, .max_isa = TestIsa()});
      ExecContext context(compute, exec.primitives);
      for (const int rows : {1, 20, 70}) {
        EXPECT_EQ(ops.Run(context, rows, 3), ops.Run(exec.context(), rows, 3));
      }
    }
  }
}

}  // namespace
}  // namespace attend
