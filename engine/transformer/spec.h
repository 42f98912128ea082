#ifndef ATTEND_ENGINE_TRANSFORMER_SPEC_H_
#define ATTEND_ENGINE_TRANSFORMER_SPEC_H_

#include <optional>
#include <vector>

#include "engine/ops/epilogue.h"

namespace attend {

// What differs between transformers. A family (engine/families) writes it from
// config.json; the transformer reads nothing else. A new architecture is a new
// field or enumerator here.

enum class NormKind { kLayerNorm };
enum class NormPlace {
  kPost,  // x = norm(x + f(x)): Vaswani et al. 2017
  kPre,   // x = x + f(norm(x)), and one norm after the last layer
};

struct NormSpec {
  NormKind kind = NormKind::kLayerNorm;
  float epsilon = 1e-5f;
};

struct AttentionSpec {
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  float scale = 0;  // of query times key: 1 / sqrt(head_dim)
};

struct FeedForwardSpec {
  int width = 0;
  Activation activation = Activation::kRelu;
};

struct LayerSpec {
  NormSpec norm;
  NormPlace norm_place = NormPlace::kPost;
  AttentionSpec self_attention;
  std::optional<AttentionSpec> cross_attention;
  FeedForwardSpec feed_forward;
};

enum class Positions {
  kSinusoidal,  // [sin | cos] halves, not interleaved
};

struct EmbeddingSpec {
  int vocab = 0;
  float scale = 1;  // of the token's vector, before the position is added
  Positions positions = Positions::kSinusoidal;
  int max_positions = 0;
};

struct StackSpec {
  EmbeddingSpec embedding;
  std::vector<LayerSpec> layers;
  bool causal = false;
};

struct TransformerSpec {
  int hidden = 0;
  std::optional<StackSpec> encoder;
  std::optional<StackSpec> decoder;
  // The vocabulary projection adds slot "logits.bias".
  bool logits_bias = false;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_SPEC_H_
