#ifndef ATTEND_ENGINE_TRANSFORMER_LAYER_H_
#define ATTEND_ENGINE_TRANSFORMER_LAYER_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/compute/compute.h"
#include "engine/layers/feed_forward.h"
#include "engine/layers/multi_head_attention.h"
#include "engine/layers/norm.h"
#include "engine/ops/exec/primitives.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/load.h"
#include "engine/transformer/spec.h"

namespace attend {

// One layer of a stack: attention to itself, to the encoder's output if it is
// a decoder's, and feed-forward, each in a residual branch with its norms, if
// it has any.
struct Layer {
  struct Cross {
    CrossAttention attention;
    std::optional<Norm> norm;
  };

  NormPlace norm_place;
  bool parallel;
  SelfAttention self_attention;
  std::optional<Norm> self_norm;
  std::optional<Norm> self_branch_norm;
  std::optional<Cross> cross;
  FeedForward feed_forward;
  std::optional<Norm> feed_forward_norm;
  std::optional<Norm> feed_forward_branch_norm;
};

// What layers of a stack share, of which self-attention reads it; outlives
// them.
struct SharedPositions {
  DistanceBias bias;
  const Rotary* rotary = nullptr;  // null: none
};

// Reads the slots "<prefix>.self.q.weight" and so on; `prefix` is like
// "decoder.2". `spec` outlives the layer. Errors name the tensor.
absl::StatusOr<Layer> LoadLayer(Primitives& primitives, Weights& weights,
                                const std::string& prefix, int hidden,
                                const LayerSpec& spec,
                                const SharedPositions& shared,
                                Precision precision);

// A residual branch x + f(x) whose norm comes before f (pre) or after the sum
// (post), if there is one. Lives for one branch of one pass.
class Branch {
 public:
  // Rows of activations.x are read and written by the branch; where no norm
  // comes first, x_operand holds the same. activations.normed is overwritten if
  // one does. `of_branch`: what f gives is normed before it is added.
  Branch(Compute& compute, NormPlace place, const std::optional<Norm>& norm,
         const std::optional<Norm>& of_branch, Activations& activations,
         Range rows);

  // What f reads, [rows, hidden].
  const Operand& src() const { return src_; }
  // Where the last matmul of f writes to, and what it has to add.
  Matrix dst() const { return dst_; }
  Epilogue epilogue() const;
  // After that matmul.
  void Finish() const;

 private:
  Compute& compute_;
  std::optional<NormWeights> after_;
  std::optional<NormWeights> of_branch_;
  Matrix x_;     // [rows, hidden]
  Matrix dst_;   // [rows, hidden]
  Operand src_;  // [rows, hidden]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LAYER_H_
