#ifndef ATTEND_ENGINE_TRANSFORMER_LAYER_H_
#define ATTEND_ENGINE_TRANSFORMER_LAYER_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/compute/compute.h"
#include "engine/layers/attention.h"
#include "engine/layers/feed_forward.h"
#include "engine/layers/norm.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/load.h"
#include "engine/transformer/spec.h"

namespace attend {

// One layer of a stack: attention to itself, to the encoder's output if it is
// a decoder's, and feed-forward, each in a residual branch with its norm, if it
// has one.
struct Layer {
  struct Cross {
    CrossAttention attention;
    std::optional<Norm> norm;
  };

  NormPlace norm_place;
  SelfAttention self_attention;
  std::optional<Norm> self_norm;
  std::optional<Cross> cross;
  FeedForward feed_forward;
  std::optional<Norm> feed_forward_norm;
};

// Reads the slots "<prefix>.self.q.weight" and so on; `prefix` is like
// "decoder.2"; `rules` are those of self-attention. Errors name the tensor.
absl::StatusOr<Layer> LoadLayer(Compute& compute, Weights& weights,
                                const std::string& prefix, int hidden,
                                const LayerSpec& spec,
                                const PositionRules& rules,
                                Precision precision);

// A residual branch x + f(x) whose norm comes before f (pre) or after the sum
// (post), if there is one. Lives for one branch of one pass.
class Branch {
 public:
  // Rows of activations.x are read and written by the branch; where no norm
  // comes first, x_operand holds the same. activations.normed is overwritten if
  // one does.
  Branch(Compute& compute, NormPlace place, const std::optional<Norm>& norm,
         Activations& activations, Range rows);

  // What f reads, [rows, hidden].
  const Operand& src() const { return src_; }
  // What the last matmul of f, which writes to x, has to add.
  Epilogue epilogue() const;

 private:
  std::optional<NormWeights> after_;
  Matrix x_;     // [rows, hidden]
  Operand src_;  // [rows, hidden]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LAYER_H_
