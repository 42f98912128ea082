#ifndef ATTEND_ENGINE_TRANSFORMER_SPEC_H_
#define ATTEND_ENGINE_TRANSFORMER_SPEC_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "engine/layers/rotary_spec.h"
#include "engine/ops/matmul/epilogue.h"

namespace attend {

// What differs between transformers. A family (engine/families) writes it from
// config.json; the transformer reads nothing else. A new architecture is a new
// field or enumerator here. A field is computed wherever it can be set, or
// TransformerSpec::Validate() refuses it there.

enum class NormKind { kLayerNorm, kRmsNorm };
enum class NormPlace {
  kPost,  // x = norm(x + f(x)): Vaswani et al. 2017
  kPre,   // x = x + f(norm(x)), and a norm as the first layer's after the last
};

struct NormSpec {
  NormKind kind = NormKind::kLayerNorm;
  float epsilon = 1e-5f;
  // What is stored is the weight less 1, as Gemma has it.
  bool unit_offset = false;
};

struct AttentionSpec {
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  float scale = 0;  // of query times key: 1 / sqrt(head_dim)
  // Queries, keys and values are cut to [-clip, clip]; 0: they stay.
  float clip = 0;
  // Of each head's query and key (Henry et al. 2020), before they are rotated.
  std::optional<NormSpec> head_norm = std::nullopt;
  std::optional<RotarySpec> rotary = std::nullopt;
  // Scores become softcap * tanh(score / softcap) (Gemma 2, 2024); 0: they
  // stay.
  float softcap = 0;
  // A head's score falls by its slope for each token that the key is away
  // (Press et al. 2022); [heads], or empty.
  std::vector<float> slopes = {};
  // Keys are seen that are at most so many positions away (Beltagy et al.
  // 2020); 0: all.
  int window = 0;
};

struct FeedForwardSpec {
  int width = 0;
  Activation activation = Activation::kRelu;
  // activation(gate(x)) times in(x) (Shazeer 2020), instead of
  // activation(in(x)).
  bool gated = false;
};

struct LayerSpec {
  NormSpec norm;
  NormPlace norm_place = NormPlace::kPost;
  // False: self-attention reads x as it is, in a layer whose norms come first.
  bool self_norm = true;
  // What a branch gives is normed before it is added, too (Gemma 2, 2024); with
  // kPre.
  bool branch_norm = false;
  // Attention and feed-forward both read x, each through its norm, and both are
  // added (Wang & Komatsuzaki 2021); with kPre, without cross-attention.
  bool parallel = false;
  AttentionSpec self_attention;
  // Of decoders beside an encoder, all of them. It knows no positions.
  std::optional<AttentionSpec> cross_attention;
  FeedForwardSpec feed_forward;
};

enum class Positions {
  kNone,        // the embedding adds none
  kSinusoidal,  // [sin | cos] halves, not interleaved; frequencies 10000^-2i/d
  // The same with frequencies 10000^-i/(d/2 - 1), the last of them included, as
  // tensor2tensor and fairseq have them.
  kSinusoidalToEnd,
  kLearned,
};

struct EmbeddingSpec {
  int vocab = 0;
  // Of the tables; where it is not `hidden`, slot "projection" maps it there.
  int width = 0;
  // The projection maps a token's vector before anything else is made of it, so
  // that the other tables have `hidden` columns; else it maps what the
  // embedding comes to.
  bool projects_tokens = false;
  float scale = 1;  // of the token's vector, before the position is added
  Positions positions = Positions::kSinusoidal;
  // Positions are [0, max_positions).
  int max_positions = 0;
  // Row of the table of positions that position 0 has.
  int position_offset = 0;
  // Positions count the tokens that are not this one, which itself has the
  // position before the first; in encoders. -1: they count all.
  int uncounted_id = -1;
  int token_types = 0;  // rows of the table of token types; 0: there is none
  std::optional<NormSpec> norm = std::nullopt;  // of the sum
};

// A learned bias of a score by the distance of key and query, the same in all
// layers (Raffel et al. 2020). Slot "<stack>.relative_bias" [buckets, heads].
struct RelativeBiasSpec {
  int buckets = 0;
  int max_distance = 0;  // all that are farther share a bucket
};

struct StackSpec {
  EmbeddingSpec embedding;
  std::vector<LayerSpec> layers;
  std::optional<RelativeBiasSpec> relative_bias = std::nullopt;

  // What of its rotations is by length, and the same in all layers that have
  // any such; null: nothing.
  const RotarySpec* RotaryByLength() const {
    for (const LayerSpec& layer : layers) {
      const auto& rotary = layer.self_attention.rotary;
      if (rotary && rotary->by_length()) return &*rotary;
    }
    return nullptr;
  }
};

// activation(x W^T + b), and a norm where there is one.
struct DenseSpec {
  int out = 0;
  Activation activation = Activation::kNone;
  std::optional<NormSpec> norm = std::nullopt;
};

// How the vectors of a source's tokens become one.
enum class Pooling { kCls, kMean, kMax, kLast };  // kCls: the first

// What is computed of a source's vectors to embed it.
struct EmbedSpec {
  Pooling pooling = Pooling::kMean;
  std::vector<DenseSpec> layers;  // slots "embed.<i>"
  bool normalize = false;         // to length 1
};

enum class HeadKind {
  kSequence,  // labels of the pooled vector
  kTokens,    // labels of each token's
  kMaskedLm,  // the vocabulary at each token, by slots "logits"
};

// What a trained head computes of the encoder's output.
struct HeadSpec {
  HeadKind kind = HeadKind::kSequence;
  Pooling pooling = Pooling::kCls;  // of kSequence
  std::vector<DenseSpec> layers;    // slots "head.<i>"
};

// An encoder, a decoder, or both. Decoders are causal, encoders are not.
struct TransformerSpec {
  int hidden = 0;
  std::optional<StackSpec> encoder;
  std::optional<StackSpec> decoder;
  EmbedSpec embed;               // of encoders
  std::optional<HeadSpec> head;  // of encoders
  // Of the decoder's output, before the vocabulary projection.
  float logits_scale = 1;
  // Slot "logits.projection" maps the decoder's output to so many numbers,
  // which the vocabulary projection reads; 0: there is none.
  int logits_width = 0;
  // The vocabulary projection adds slot "logits.bias".
  bool logits_bias = false;
  // Logits become softcap * tanh(logit / softcap); 0: they stay.
  float logits_softcap = 0;

  // Whether the transformer computes exactly this: INVALID_ARGUMENT names the
  // first field that is out of range, at odds with another one, or not computed
  // where it stands, as in "decoder.layers[3].cross_attention.window".
  absl::Status Validate() const;

  // What reads a request's source: without an encoder, it is what the decoder
  // continues.
  const EmbeddingSpec& SourceEmbedding() const {
    return encoder ? encoder->embedding : decoder->embedding;
  }
  // Rows of the vocabulary projection; 0: there is none.
  int LogitsVocab() const {
    if (decoder) return decoder->embedding.vocab;
    const bool masked_lm = head && head->kind == HeadKind::kMaskedLm;
    return masked_lm ? encoder->embedding.vocab : 0;
  }
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_SPEC_H_
