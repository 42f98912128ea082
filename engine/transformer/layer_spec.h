#ifndef ATTEND_ENGINE_TRANSFORMER_LAYER_SPEC_H_
#define ATTEND_ENGINE_TRANSFORMER_LAYER_SPEC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layers/rotary_spec.h"
#include "engine/ops/matmul/epilogue.h"

namespace attend {

enum class NormKind { kLayerNorm, kRmsNorm };
enum class NormPlace {
  kPost,  // x = norm(x + f(x)): Vaswani et al. 2017
  kPre,   // x = x + f(norm(x)), and one more norm after the last layer
};

struct NormSpec {
  NormKind kind = NormKind::kLayerNorm;
  float epsilon = 1e-5f;
  // The checkpoint stores gamma - 1 (Mesnard et al. 2024).
  bool unit_offset = false;

  bool operator==(const NormSpec&) const = default;
};

struct AttentionSpec {
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  float scale = 0;  // score = scale * q k^T; usually 1 / sqrt(head_dim)
  // Queries, keys and values are clamped to [-clip, clip]; 0: no clamp.
  float clip = 0;
  // A norm of each head's query and key (Henry et al. 2020), before rotation.
  std::optional<NormSpec> head_norm = std::nullopt;
  // The norm is of all heads of a query, or of a key, together. Only with
  // head_norm.
  bool joint_norm = false;
  // Each head's norm has weights of its own. Only with head_norm, and not with
  // joint_norm.
  bool norm_by_head = false;
  // Heads are normalized after they are rotated. Only with head_norm and
  // rotary.
  bool norm_after_rotation = false;
  // Rotary positions; nullopt: queries and keys are not rotated.
  std::optional<RotarySpec> rotary = std::nullopt;
  // Values are rotated, too. Only with rotary.
  bool rotates_values = false;
  // Scores become softcap * tanh(score / softcap) (Riviere 2024); 0: no cap.
  float softcap = 0;
  // Linear biases (Press et al. 2022), [heads] or empty: head h's score gets
  // + slopes[h] * (key's position - query's position).
  std::vector<float> slopes = {};
  // With slopes: head h's score gets - slopes[h] * |key's position - query's|.
  bool symmetric = false;
  // A query sees the keys at most this many positions away (Beltagy et al.
  // 2020); 0: all keys.
  int window = 0;

  bool operator==(const AttentionSpec&) const = default;
};

// The values whose weights are precise in int8 (MatMul::Create()): all, where
// heads share them. What weights lose moves the values of all keys alike, so
// that attention does not average it away; and those are few weights.
inline int PreciseValues(const AttentionSpec& spec) {
  return spec.kv_heads < spec.heads ? spec.kv_heads * spec.head_dim : 0;
}

// A mixture of experts (Shazeer et al. 2017): a row goes through those
// feed-forward networks that its scores choose. The scores are a linear map of
// the row, slot "ffn.router". The outputs are added up, each multiplied with
// the softmax of all scores. Experts have the slots "ffn.experts.<i>.in" and so
// on; "ffn.experts.bias" [hidden] is added to the sum.
struct ExpertsSpec {
  int count = 0;
  int chosen = 0;  // of a row: those with the highest scores
  // The softmax is of the chosen experts' scores alone.
  bool normalized = false;

  bool operator==(const ExpertsSpec&) const = default;
};

struct FeedForwardSpec {
  int width = 0;
  Activation activation = Activation::kRelu;
  // activation(gate(x)) * in(x) (Shazeer 2020) instead of activation(in(x)).
  bool gated = false;
  // Nullopt: one network, that of all rows.
  std::optional<ExpertsSpec> experts = std::nullopt;

  // Numbers that a row's inputs are multiplied with, for each of its numbers;
  // without those of the router, which are few.
  int64_t RowProducts() const {
    const int64_t networks = experts ? experts->chosen : 1;
    return networks * (gated ? 3 : 2) * width;
  }

  bool operator==(const FeedForwardSpec&) const = default;
};

struct LayerSpec {
  NormSpec norm;
  NormPlace norm_place = NormPlace::kPost;
  // False: self-attention, or the feed-forward network, reads x without a norm.
  // Only with kPre.
  bool self_norm = true;
  bool ffn_norm = true;
  // The output of each branch goes through a norm of its own before it is added
  // (Riviere et al. 2024). Only with kPre.
  bool branch_norm = false;
  // Self-attention's sum has a norm of its own, after which x is added again:
  // x = norm(x + sum_norm(x + attention(x))). Only with kPost.
  bool sum_norm = false;
  // x + attention(norm(x)) + feed_forward(norm(x)), with a norm for each (Wang
  // & Komatsuzaki 2021). Only with kPre and without cross-attention.
  bool parallel = false;
  AttentionSpec self_attention;
  // Set in all layers of a decoder beside an encoder, and nowhere else. Without
  // positions: no rotary, slopes or window.
  std::optional<AttentionSpec> cross_attention;
  FeedForwardSpec feed_forward;

  bool operator==(const LayerSpec&) const = default;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LAYER_SPEC_H_
