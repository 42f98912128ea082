#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/stored_rows.h"
#include "tests/bench/engine/random_floats.h"
#include "tests/bench/ops/ops_bench.h"

namespace attend {
namespace {

constexpr int kRows[] = {1, 8, 32, 128, 512};
constexpr int kMaxRows = 512;

// A linear map as a layer uses it: [rows, k] to [rows, n].
struct Map {
  const char* name;
  int k, n;
  Activation activation = Activation::kNone;
  bool norm = false;          // residual and norm, and the next operand
  bool operand_only = false;  // only the next matmul reads the result
};

constexpr Map kMaps[] = {
    {.name = "qkv", .k = kHidden, .n = 3 * kHidden},
    {.name = "out_norm", .k = kHidden, .n = kHidden, .norm = true},
    {.name = "ffn_in_relu",
     .k = kHidden,
     .n = kInner,
     .activation = Activation::kRelu,
     .operand_only = true},
    {.name = "ffn_in_gelu",
     .k = kHidden,
     .n = kInner,
     .activation = Activation::kGelu,
     .operand_only = true},
    {.name = "ffn_in_silu",
     .k = kHidden,
     .n = kInner,
     .activation = Activation::kSilu,
     .operand_only = true},
    {.name = "ffn_out_norm", .k = kInner, .n = kHidden, .norm = true},
};

// One map in one dtype: weights that are cold whenever their turn comes, and
// all that a call reads and writes.
class MatMulFixture {
 public:
  MatMulFixture(const Setup& setup, const Map& map, ComputeType dtype)
      : setup_(setup),
        primitives_(setup.compute),
        map_(map),
        dtype_(dtype),
        vectors_(RandomFloats(map.n, 1)),
        src_(RandomFloats(static_cast<size_t>(kMaxRows) * map.k, 1)),
        residual_(RandomFloats(static_cast<size_t>(kMaxRows) * map.n, 1)),
        dst_(static_cast<size_t>(kMaxRows) * map.n),
        from_(dtype, kMaxRows, map.k),
        to_(dtype, kMaxRows, map.n) {
    const Buffer<float> weights =
        RandomFloats(static_cast<size_t>(map.n) * map.k, 1);
    do {
      maps_.push_back(MatMul::Create(primitives_, dtype,
                                     StoredRows({weights.data(), map.n, map.k}),
                                     kMaxRows)
                          .value());
    } while (maps_.size() * weight_bytes() < setup.cold_bytes);
    context_.emplace(setup.compute, primitives_);
  }

  bool Is(const Map& map, ComputeType dtype) const {
    return &map_ == &map && dtype_ == dtype;
  }

  void Run(benchmark::State& state, int rows) {
    const Matrix src = {src_.data(), rows, map_.k};
    const Matrix dst = {dst_.data(), rows, map_.n};
    const Operand operand = from_.Of(src);
    MakeOperand(setup_.compute, src, operand);
    const NormWeights norm = {vectors_.data(), vectors_.data()};
    Epilogue epilogue = {.bias = vectors_.data(),
                         .activation = map_.activation,
                         .operand_only = map_.operand_only};
    if (map_.norm) {
      epilogue.residual = residual_.data();
      epilogue.norm = &norm;
    }
    if (map_.norm || map_.operand_only) epilogue.operand = to_.Of(dst);
    size_t next = 0;
    Measure(
        state, setup_,
        [&] {
          return maps_[next++ % maps_.size()].Run(*context_, operand, epilogue,
                                                  dst);
        },
        [&] { return Work(rows); });
  }

 private:
  double weight_bytes() const {
    return static_cast<double>(
        PackedBytes(dtype_, uint64_t{1} * map_.n * map_.k));
  }
  // Weights, source, residual, and what is written: the result, the operand of
  // the next map, or both.
  OpWork Work(int rows) const {
    double row_bytes = OperandBytes(dtype_, map_.k);
    if (!map_.operand_only) row_bytes += map_.n * sizeof(float);
    if (map_.norm) row_bytes += map_.n * sizeof(float);
    const bool converts = dtype_ != ComputeType::kF32 || map_.operand_only;
    if (converts && (map_.norm || map_.operand_only)) {
      row_bytes += OperandBytes(dtype_, map_.n);
    }
    return {.bytes = weight_bytes() + rows * row_bytes,
            .flop = 2.0 * rows * map_.n * map_.k,
            .dtype = dtype_};
  }

  const Setup& setup_;
  Primitives primitives_;
  std::optional<ExecContext> context_;
  const Map& map_;
  const ComputeType dtype_;
  std::vector<MatMul> maps_;
  const Buffer<float> vectors_;  // [n]
  Buffer<float> src_;
  const Buffer<float> residual_;
  Buffer<float> dst_;
  OperandBuffer from_;
  OperandBuffer to_;
};

}  // namespace

void RegisterMatMuls(const Setup& setup) {
  // Kept from one benchmark to the next, one at a time.
  const auto fixture = std::make_shared<std::optional<MatMulFixture>>();
  for (const Map& map : kMaps) {
    for (const ComputeType dtype : kComputeTypes) {
      if (!setup.Has(dtype)) continue;
      for (const int rows : kRows) {
        Register(
            absl::StrFormat("matmul/%s/%s/%d", map.name, TypeName(dtype), rows),
            [=, &setup, &map](benchmark::State& state) {
              if (!fixture->has_value() || !(*fixture)->Is(map, dtype)) {
                fixture->emplace(setup, map, dtype);
              }
              (*fixture)->Run(state, rows);
            });
      }
    }
  }
}

}  // namespace attend
