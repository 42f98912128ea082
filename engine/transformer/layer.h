#ifndef ATTEND_ENGINE_TRANSFORMER_LAYER_H_
#define ATTEND_ENGINE_TRANSFORMER_LAYER_H_

#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/layers/feed_forward.h"
#include "engine/layers/mixture_of_experts.h"
#include "engine/layers/multi_head_attention.h"
#include "engine/layers/norm.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/ops/exec/primitives.h"
#include "engine/transformer/load.h"
#include "engine/transformer/spec.h"

namespace attend {

// The norms of a residual branch x + f(x).
struct BranchNorms {
  // kPre: x + f(norm(x)). kPost: norm(x + f(x)). See NormPlace.
  std::optional<Norm> norm;
  // x + of_branch(f(x)).
  std::optional<Norm> of_branch;
  // kPost: norm(x + of_sum(x + f(x))).
  std::optional<Norm> of_sum;
};

// One layer of a stack: self-attention, cross-attention in a decoder beside an
// encoder, and feed-forward, each in a residual branch. Const after loading.
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
  std::variant<FeedForward, MixtureOfExperts> feed_forward;
  BranchNorms feed_forward_norms;
};

// The positions of a layer's self-attention, which layers may share. What it
// points to must outlive the layers.
struct SharedPositions {
  DistanceBias bias;
  DistanceProducts distances = {};
  const Rotary* rotary = nullptr;  // null: none
};

// Reads the slots "<prefix>.self.q.weight" and so on; `prefix` is like
// "decoder.2". `spec` must outlive the layer. Errors name the tensor.
absl::StatusOr<Layer> LoadLayer(Primitives& primitives, Weights& weights,
                                const std::string& prefix, int hidden,
                                const LayerSpec& spec,
                                const SharedPositions& shared,
                                const LoadOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LAYER_H_
