#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/layers/embedding.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/stored_rows.h"
#include "tests/bench/engine/random_floats.h"
#include "tests/bench/ops/ops_bench.h"

namespace attend {
namespace {

// Of a step, of an encode, and so many that they come from memory.
constexpr int kRows[] = {1, 32, 128, 1024, 65536};

double Floats(int rows) { return static_cast<double>(rows) * kHidden; }

void MakeOperandOp(benchmark::State& state, const Setup& setup,
                   ComputeType dtype, int rows) {
  Buffer<float> src = RandomFloats(Floats(rows), 1);
  const Matrix in = {src.data(), rows, kHidden};
  OperandBuffer to(dtype, rows, kHidden);
  const Operand operand = to.Of(in);
  Measure(
      state, setup, [&] { MakeOperand(setup.compute, in, operand); },
      [&]() -> OpWork {
        return {.bytes = 4 * Floats(rows) +
                         1.0 * rows * OperandBytes(dtype, kHidden)};
      });
}

// With the operand of the next map, as layers with the norm in front do.
void LayerNormOp(benchmark::State& state, const Setup& setup, ComputeType dtype,
                 int rows) {
  const Buffer<float> src = RandomFloats(Floats(rows), 1);
  Buffer<float> dst(src.size());
  const NormWeights norm = {src.data(), src.data()};
  const Matrix out = {dst.data(), rows, kHidden};
  OperandBuffer to(dtype, rows, kHidden);
  const Operand operand = to.Of(out);
  Measure(
      state, setup,
      [&] {
        Normalize(setup.compute, {src.data(), rows, kHidden}, norm, out,
                  operand);
      },
      [&]() -> OpWork {
        const size_t more =
            dtype == ComputeType::kF32 ? 0 : OperandBytes(dtype, kHidden);
        return {.bytes = Floats(rows) * (4 + 4) + 1.0 * rows * more};
      });
}

void EmbeddingOp(benchmark::State& state, const Setup& setup, int rows) {
  const Buffer<float> tokens =
      RandomFloats(static_cast<size_t>(kVocab) * kHidden, 1);
  const Buffer<float> positions_table = Sinusoids(512, kHidden);
  const Embedding table(
      {.tokens = std::make_shared<const StoredRows>(
           ConstMatrix{tokens.data(), kVocab, kHidden}),
       .positions = StoredRows({positions_table.data(), 512, kHidden}),
       .types = {}},
      std::nullopt, std::nullopt);
  std::vector<int> ids(rows), positions(rows);
  for (int i = 0; i < rows; ++i) {
    ids[i] = static_cast<int>(i * 104729ll % kVocab);
    positions[i] = i % 512;
  }
  Buffer<float> dst(Floats(rows));
  Measure(
      state, setup,
      [&] {
        const absl::Status status = table.Run(
            setup.attention, {.ids = ids, .positions = positions, .types = {}},
            {}, {}, {dst.data(), rows, kHidden});
        if (!status.ok()) Fail(state, setup, status);
      },
      [&]() -> OpWork { return {.bytes = Floats(rows) * (4 + 4)}; });
}

}  // namespace

void RegisterRowOps(const Setup& setup) {
  for (const ComputeType dtype : {ComputeType::kBf16, ComputeType::kInt8}) {
    for (const int rows : kRows) {
      Register(absl::StrFormat("make_operand/%s/%d", TypeName(dtype), rows),
               [=, &setup](benchmark::State& state) {
                 MakeOperandOp(state, setup, dtype, rows);
               });
    }
  }
  for (const ComputeType dtype : kComputeTypes) {
    for (const int rows : kRows) {
      Register(absl::StrFormat("layer_norm/%s/%d", TypeName(dtype), rows),
               [=, &setup](benchmark::State& state) {
                 LayerNormOp(state, setup, dtype, rows);
               });
    }
  }
  for (const int rows : kRows) {
    Register(absl::StrCat("embedding/", rows),
             [=, &setup](benchmark::State& state) {
               EmbeddingOp(state, setup, rows);
             });
  }
}

}  // namespace attend
