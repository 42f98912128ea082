#ifndef ATTEND_TESTS_BENCH_OPS_DECODER_STEP_H_
#define ATTEND_TESTS_BENCH_OPS_DECODER_STEP_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/compute/compute.h"
#include "engine/ops/attention/kv_type.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/runtime/model.h"
#include "engine/transformer/spec.h"
#include "server/app/options.h"
#include "tests/bench/engine/engine_loop.h"

namespace attend {

// Whole decoder steps of a model, projection and greedy choice included, with a
// number of sequences that stays the same.
class DecoderStep {
 public:
  // Loads the model that `options` name, in `dtype`. `compute` must outlive the
  // result.
  static absl::StatusOr<std::unique_ptr<DecoderStep>> Load(
      Compute& compute, const ServerOptions& options, ComputeType dtype);

  ComputeType dtype() const { return dtype_; }

  // Brings `rows` new sequences so far that they decode, after dropping those
  // of before.
  absl::Status Start(int rows);
  // One step. An error when the longest target is reached, or the KV cache is
  // full.
  absl::Status Run();

  // What a step moves and computes at least, on average since Start(): each
  // weight of the decoder and of the projection once, and keys and values of
  // all that each row attends to; products and sums of the weights with each
  // row. What is left out, activations and attention's arithmetic, would raise
  // the limit by a percent or two.
  double bytes() const;
  double flop() const;

 private:
  ComputeType dtype_ = ComputeType::kF32;
  KvType kv_dtype_ = KvType::kF32;
  TransformerSpec spec_;
  Model model_;
  std::unique_ptr<EngineLoop> loop_;
  int rows_ = 0;
  int64_t tokens_before_ = 0;  // of all rows, when Start() was done
};

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_OPS_DECODER_STEP_H_
