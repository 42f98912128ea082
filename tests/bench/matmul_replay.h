#ifndef ATTEND_TESTS_BENCH_MATMUL_REPLAY_H_
#define ATTEND_TESTS_BENCH_MATMUL_REPLAY_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/ops/matmul.h"
#include "engine/ops/operand.h"
#include "engine/tensor/buffer.h"
#include "engine/transformer/spec.h"
#include "tests/bench/engine_loop.h"

namespace attend {

// The linear maps of a transformer and nothing else, with random weights: what
// a run would take if all but its matmuls were free.
class MatMulReplay {
 public:
  // `compute` must outlive the replay.
  static absl::StatusOr<MatMulReplay> Create(Compute& compute,
                                             const TransformerSpec& spec,
                                             DType dtype, int max_rows);

  // Seconds of the matmuls of these steps: all maps of the decoder and the
  // projection on the decode rows, all maps of the encoder and the decoder's
  // cross-attention keys and values on the encode rows.
  absl::StatusOr<double> Run(absl::Span<const StepRows> steps);

 private:
  MatMulReplay(Compute& compute, int max_rows)
      : compute_(compute), max_rows_(max_rows) {}

  absl::Status RunAll(absl::Span<const MatMul> maps, int rows, int tile);

  Compute& compute_;
  int max_rows_;
  std::vector<MatMul> encode_;
  std::vector<MatMul> decode_;
  std::vector<MatMul> projection_;  // one
  Buffer<float> src_;
  std::optional<OperandBuffer> operand_;
  Buffer<float> dst_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_BENCH_MATMUL_REPLAY_H_
