#ifndef ATTEND_TESTS_BENCH_ENGINE_MATMUL_REPLAY_H_
#define ATTEND_TESTS_BENCH_ENGINE_MATMUL_REPLAY_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/ops/logits/projection.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/transformer/spec.h"
#include "tests/bench/engine/engine_loop.h"

namespace attend {

// Weights that each decode row is multiplied with: those of the decoder's
// layers but the cross-attention's keys and values, and the projection.
double DecodeWeights(const TransformerSpec& spec);

// The linear maps of a transformer and nothing else, with random weights: what
// a run would take if all but its matmuls were free.
class MatMulReplay {
 public:
  // `compute` must outlive the replay. Without a decoder in `spec` only encode
  // rows can be run.
  static absl::StatusOr<MatMulReplay> Create(Compute& compute,
                                             const TransformerSpec& spec,
                                             ComputeType dtype, int max_rows);

  // Seconds of the matmuls of these steps: all maps of the decoder and the
  // projection on the decode rows, all maps of the encoder and the decoder's
  // cross-attention keys and values on the encode rows; of a decoder alone, its
  // own maps on the rows of prompts.
  absl::StatusOr<double> Run(absl::Span<const StepRows> steps);

 private:
  MatMulReplay(Compute& compute, int max_rows)
      : compute_(compute),
        primitives_(std::make_unique<Primitives>(compute)),
        max_rows_(max_rows) {}

  absl::Status AddProjection(ComputeType dtype, int hidden, int vocab);
  absl::Status RunMaps(absl::Span<const MatMul> maps, int rows);
  absl::Status RunProjection(int rows);

  Compute& compute_;
  std::unique_ptr<Primitives> primitives_;
  std::unique_ptr<ExecContext> context_;
  int max_rows_;
  std::vector<MatMul> encode_;
  std::vector<MatMul> decode_;
  std::optional<Projection> projection_;
  Buffer<float> src_;
  std::optional<OperandBuffer> operand_;  // src_, as the maps read it
  Buffer<float> dst_;
  std::optional<LogitsBuffer> logits_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_ENGINE_MATMUL_REPLAY_H_
