#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/ops/logits/projection.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/stored_rows.h"
#include "tests/bench/engine/random_floats.h"
#include "tests/bench/ops/ops_bench.h"

namespace attend {
namespace {

constexpr int kRows[] = {1, 8, 32, 128};
constexpr int kMaxRows = 128;

// The projection in one dtype: weights that are cold whenever their turn comes,
// and all that a call reads and writes.
class ProjectionFixture {
 public:
  ProjectionFixture(const Setup& setup, ComputeType dtype)
      : setup_(setup),
        primitives_(setup.compute),
        dtype_(dtype),
        src_(RandomFloats(static_cast<size_t>(kMaxRows) * kHidden, 1)),
        operand_(dtype, kMaxRows, kHidden),
        logits_(kMaxRows, kVocab, setup.compute.team().size()) {
    const Buffer<float> weights =
        RandomFloats(static_cast<size_t>(kVocab) * kHidden, 1);
    do {
      projections_.push_back(
          Projection::Create(primitives_, dtype,
                             StoredRows({weights.data(), kVocab, kHidden}),
                             Buffer<float>(), kMaxRows)
              .value());
    } while (projections_.size() * weight_bytes() < setup.cold_bytes);
    context_.emplace(setup.compute, primitives_);
  }

  ComputeType dtype() const { return dtype_; }

  void Run(benchmark::State& state, int rows, const LogitsNeed& need) {
    const Matrix src = {src_.data(), rows, kHidden};
    const Operand operand = operand_.Of(src);
    MakeOperand(setup_.compute, src, operand);
    const std::vector<LogitsNeed> needs(rows, need);
    size_t next = 0;
    Measure(
        state, setup_,
        [&] {
          return projections_[next++ % projections_.size()].Run(
              *context_, operand, needs, logits_);
        },
        [&]() -> OpWork {
          return {
              .bytes = weight_bytes() + rows * OperandBytes(dtype_, kHidden),
              .flop = 2.0 * rows * kVocab * kHidden,
              .dtype = dtype_};
        });
  }

 private:
  double weight_bytes() const {
    return static_cast<double>(PackedBytes(dtype_, uint64_t{kVocab} * kHidden));
  }

  const Setup& setup_;
  Primitives primitives_;
  std::optional<ExecContext> context_;
  const ComputeType dtype_;
  std::vector<Projection> projections_;
  Buffer<float> src_;
  OperandBuffer operand_;
  LogitsBuffer logits_;
};

void RegisterProjections(const Setup& setup) {
  // Kept from one benchmark to the next, one at a time.
  const auto fixture = std::make_shared<std::unique_ptr<ProjectionFixture>>();
  for (const ComputeType dtype : kComputeTypes) {
    if (!setup.Has(dtype)) continue;
    for (const auto& [search, need] :
         {std::pair("greedy", LogitsNeed{.top = 1}),
          {"beam4", LogitsNeed{.top = 8, .log_sum_exp = true}}}) {
      for (const int rows : kRows) {
        Register(absl::StrFormat("projection/%s/%s/%d", search, TypeName(dtype),
                                 rows),
                 [=, &setup](benchmark::State& state) {
                   if (*fixture == nullptr || (*fixture)->dtype() != dtype) {
                     fixture->reset();
                     *fixture =
                         std::make_unique<ProjectionFixture>(setup, dtype);
                   }
                   (*fixture)->Run(state, rows, need);
                 });
      }
    }
  }
}

// On the calling thread alone, over a row that lies in cache.
template <typename Ask>
void RegisterView(const Setup& setup, const std::string& name, Ask ask) {
  Register(name, [=, &setup](benchmark::State& state) {
    const Buffer<float> row = RandomFloats(kVocab, 1);
    const LogitsView view({row.data(), row.size()});
    Measure(
        state, setup, [&] { ask(view); },
        []() -> OpWork { return {.bytes = kVocab * sizeof(float)}; });
  });
}

}  // namespace

void RegisterLogits(const Setup& setup) {
  RegisterProjections(setup);
  RegisterView(setup, "logits_view/log_sum_exp", [](const LogitsView& view) {
    benchmark::DoNotOptimize(view.LogSumExp());
  });
  for (const int n : {1, 8}) {
    RegisterView(setup, absl::StrCat("logits_view/top", n),
                 [=](const LogitsView& view) {
                   TokenScore top[8];
                   view.Top({top, static_cast<size_t>(n)});
                   benchmark::DoNotOptimize(top);
                 });
  }
}

}  // namespace attend
