#ifndef ATTEND_ENGINE_TRANSFORMER_LAYER_H_
#define ATTEND_ENGINE_TRANSFORMER_LAYER_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/layers/feed_forward.h"
#include "engine/layers/multi_head_attention.h"
#include "engine/layers/norm.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/ops/exec/primitives.h"
#include "engine/transformer/load.h"
#include "engine/transformer/spec.h"

namespace attend {

// The norms of a residual branch x + f(x), if it has any.
struct BranchNorms {
  std::optional<Norm> norm;  // of x, or of the sum: see NormPlace
  // Of f(x), before it is added.
  std::optional<Norm> of_branch;
};

// One layer of a stack: attention to itself, to the encoder's output if it is
// a decoder's, and feed-forward, each in a residual branch. Const after
// loading.
struct Layer {
  struct Cross {
    CrossAttention attention;
    BranchNorms norms;
  };

  NormPlace norm_place;
  bool parallel;
  SelfAttention self_attention;
  BranchNorms self_norms;
  std::optional<Cross> cross;
  FeedForward feed_forward;
  BranchNorms feed_forward_norms;
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

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LAYER_H_
