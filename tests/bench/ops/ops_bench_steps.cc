#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "tests/bench/ops/decoder_step.h"
#include "tests/bench/ops/ops_bench.h"

namespace attend {
namespace {

constexpr int kRows[] = {1, 32, 128};
// Of one measurement: sequences must not end in it.
constexpr int kSteps = 64;

// The model in the dtype asked for last, since one is loaded at a time.
class LoadedModel {
 public:
  LoadedModel(const Setup& setup, const ServerOptions& options)
      : setup_(setup), options_(options) {}

  absl::StatusOr<DecoderStep*> In(ComputeType dtype) {
    if (step_ == nullptr || step_->dtype() != dtype) {
      step_.reset();
      auto step = DecoderStep::Load(setup_.compute, options_, dtype);
      if (!step.ok()) return step.status();
      step_ = *std::move(step);
    }
    return step_.get();
  }

 private:
  const Setup& setup_;
  const ServerOptions options_;
  std::unique_ptr<DecoderStep> step_;
};

void DecoderStepOp(benchmark::State& state, const Setup& setup,
                   LoadedModel& model, ComputeType dtype, int rows) {
  const absl::StatusOr<DecoderStep*> loaded = model.In(dtype);
  if (!loaded.ok()) return Fail(state, setup, loaded.status());
  DecoderStep& step = **loaded;
  const absl::Status started = step.Start(rows);
  if (!started.ok()) return Fail(state, setup, started);
  Measure(
      state, setup, [&] { return step.Run(); },
      [&]() -> OpWork {
        return {.bytes = step.bytes(), .flop = step.flop(), .dtype = dtype};
      });
}

}  // namespace

void RegisterDecoderSteps(const Setup& setup, const ServerOptions& options) {
  const auto model = std::make_shared<LoadedModel>(setup, options);
  for (const ComputeType dtype : kComputeTypes) {
    if (!setup.Has(dtype)) continue;
    for (const int rows : kRows) {
      Register(
          absl::StrFormat("decoder_step/%s/%d", TypeName(dtype), rows),
          [=, &setup](benchmark::State& state) {
            DecoderStepOp(state, setup, *model, dtype, rows);
          },
          kSteps);
    }
  }
}

}  // namespace attend
