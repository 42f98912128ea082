#ifndef ATTEND_ENGINE_TRANSFORMER_SPEC_H_
#define ATTEND_ENGINE_TRANSFORMER_SPEC_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/layers/pointwise.h"
#include "engine/layers/rotary_spec.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/transformer/layer_spec.h"

namespace attend {

// What differs between transformers, as data. A family (engine/families) makes
// a spec from config.json; the transformer reads nothing else. A new
// architecture is a new field or enumerator here. Where a field would not be
// computed, TransformerSpec::Validate() refuses any value but the default.

enum class Positions {
  kNone,        // the embedding adds none
  kSinusoidal,  // [sines | cosines]; frequency i is 10000^(-2i / d)
  // The same with frequencies 10000^(-i / (d/2 - 1)), as in tensor2tensor and
  // fairseq.
  kSinusoidalToEnd,
  kLearned,
};

struct EmbeddingSpec {
  int vocab = 0;
  // Columns of the token table. If this is not `hidden`, slot "projection" maps
  // vectors of `width` to vectors of `hidden`.
  int width = 0;
  // True: the projection maps the token's vector; the other tables have
  // `hidden` columns. False: the projection maps the sum of all tables, after
  // the norm.
  bool projects_tokens = false;
  float scale = 1;  // of the token's vector, before the position is added
  // The token at position 0 has a vector of zeros, whatever its id.
  bool zero_start = false;
  Positions positions = Positions::kSinusoidal;
  // Positions are [0, max_positions).
  int max_positions = 0;
  // The row of position 0 in the table of positions.
  int position_offset = 0;
  // In encoders: only tokens with other ids than this one advance the position.
  // A token with this id has position -1. If the field is -1, all tokens count.
  int uncounted_id = -1;
  // In encoders: tokens with this id have vectors of zeros, and those of the
  // others are divided by the share of other tokens in the source (Rives et al.
  // 2021). -1: no token is dropped.
  int dropped_id = -1;
  int token_types = 0;  // rows of the table of token types; 0: no table
  // Rows of the table of task types, of which the first is added to each row of
  // the table of token types; 0: no table.
  int task_types = 0;
  std::optional<NormSpec> norm = std::nullopt;  // of the sum
  // The norm is of the token's vector alone, to which the others are then
  // added. Only with a norm, and where `width` is that of the model.
  bool norms_tokens = false;
};

// A learned bias of each score, by the distance from query to key (Raffel et
// al. 2020). Slot "<stack>.relative_bias" [buckets, heads], which all layers
// share. See DistanceBuckets.
struct RelativeBiasSpec {
  int buckets = 0;
  int max_distance = 0;  // this and all greater distances share a bucket
  // Each layer has a table of its own, slot "<stack>.<i>.relative_bias".
  bool per_layer = false;
};

// Vectors of distances, the same in all layers, which each layer maps to keys
// that queries are multiplied with, and to queries that keys are multiplied
// with ("disentangled attention", He et al. 2021):
//   score = scale * (q k^T + q key(distance)^T + k query(distance)^T)
// Slots "<stack>.distances" [2 * side, hidden], "<stack>.distances.norm", and
// of a layer "self.distance_k" and "self.distance_q". See DistanceRows. Only in
// encoders.
struct DistanceSpec {
  int side = 0;
  int max_distance = 0;
  std::optional<NormSpec> norm = std::nullopt;  // of the vectors
  bool keys = true;
  bool queries = true;
};

// A convolution along the source, which the first layer's output gets (He et
// al. 2021):
//   norm(layer(x) + activation(sum over i of weight[i] x[p - size / 2 + i] +
//   b))
// where x, the embeddings, are zeros at positions that the source does not
// have. Slots "<stack>.convolution.weight" [hidden, hidden / groups, size],
// ".bias" and ".norm". Only in encoders with NormPlace::kPost whose tables have
// the model's width.
struct ConvolutionSpec {
  int size = 0;    // odd
  int groups = 1;  // of channels, each of which reads its own alone
  Activation activation = Activation::kTanh;
  NormSpec norm;
};

struct StackSpec {
  EmbeddingSpec embedding;
  std::vector<LayerSpec> layers;
  std::optional<RelativeBiasSpec> relative_bias = std::nullopt;
  std::optional<DistanceSpec> distances = std::nullopt;
  std::optional<ConvolutionSpec> convolution = std::nullopt;
  // The checkpoint may have the frequencies of the rotary positions, slot
  // "<stack>.frequencies" [dims / 2]: then these count. Only where all layers
  // have the same rotary, and not by length.
  bool stored_frequencies = false;

  // The rotary whose frequencies depend on the length of the sequence; null: no
  // layer has one. All layers that have one have the same.
  const RotarySpec* RotaryByLength() const {
    for (const LayerSpec& layer : layers) {
      const auto& rotary = layer.self_attention.rotary;
      if (rotary && rotary->by_length()) return &*rotary;
    }
    return nullptr;
  }
};

// y = pointwise(activation(x W^T + b)); y + residual; norm; length 1. All but
// the first may be absent.
struct DenseSpec {
  int out = 0;
  Activation activation = Activation::kNone;
  std::optional<NormSpec> norm = std::nullopt;
  Pointwise pointwise = Pointwise::kNone;
  // False: there is no map, and y begins as the first `out` numbers of x.
  bool linear = true;
  // Adds x before the norm. Where `out` is not the width of x, slot
  // "<layer>.residual" maps it, without a bias.
  bool residual = false;
  bool unit_length = false;  // y is scaled to length 1 at the end
};

// The way from the vectors of a source's tokens to one vector.
enum class Pooling {
  kCls,  // the first token's vector
  kMean,
  kMax,
  kLast,
  kMeanSqrtLength,  // the sum, divided by the root of the number of tokens
  kWeightedMean,    // the weights are 1, 2, 3, ...
};

// Weights of vocabulary tokens, most of which are 0. With layers (slots
// "sparse.<i>"): those of the source's tokens, which the layers make of their
// vectors, and which become 0 where they are negative (Chen et al. 2024).
// Without: those of all tokens, which the masked-LM logits of the source's
// tokens are pooled to (Formal et al. 2021).
struct SparseSpec {
  std::vector<DenseSpec> layers;  // the last has one number
  // The fields below are of pooled logits.
  bool sums = false;  // they are added up; else the greatest counts
  int logs = 1;       // how often relu(logit) becomes log(1 + itself)
};

// A vector of each token, to be compared with each vector of another text
// (Khattab & Zaharia 2020).
struct TokenVectorsSpec {
  std::vector<DenseSpec> layers;  // slots "tokens.<i>"
};

// The steps that embed a source: poolings, whose vectors are concatenated;
// layers.
struct EmbedSpec {
  std::vector<Pooling> poolings = {Pooling::kMean};
  // False: tokens of a prompt that is put before a text are not pooled.
  bool pools_prompt = true;
  std::vector<DenseSpec> layers = {};  // slots "embed.<i>"
  bool normalize = false;              // to length 1
  bool pooled = true;                  // false: there is no such vector
  std::optional<SparseSpec> sparse = std::nullopt;
  std::optional<TokenVectorsSpec> tokens = std::nullopt;
};

enum class HeadKind {
  kSequence,  // scores of labels, of the pooled vector
  kTokens,    // scores of labels, of each token's vector
  kMaskedLm,  // logits of the vocabulary, of each token's vector
  kSpans,   // logits of the begin and the end of a span, of each token's vector
  kChoice,  // one logit, of the pooled vector: compared with other sources'
};

// True if the head reads the vector of each token, false if it reads the pooled
// vector of the source.
inline bool ReadsTokens(HeadKind kind) {
  return kind != HeadKind::kSequence && kind != HeadKind::kChoice;
}

// The layers that a model was trained with on top of the encoder. kMaskedLm:
// slots "logits.weight" and "logits.bias" follow them.
struct HeadSpec {
  HeadKind kind = HeadKind::kSequence;
  Pooling pooling = Pooling::kCls;  // for kSequence and kChoice
  // With kSequence, in encoders: the layers read each token's vector, and what
  // they make of it is pooled.
  bool pools_outputs = false;
  // With an encoder and a decoder: the decoder reads a first token and all
  // tokens of the source but the last, so that each of its rows stands for a
  // token of the source. The head reads the vector of one row (kSequence), or
  // of each (kTokens and kSpans).
  bool reads_decoder = false;
  // The fields below are of heads that read the decoder.
  // With kSequence: the row is that of the source's last end of sequence, which
  // has to be there; else it is the last row.
  bool reads_end = false;
  // The first token is the last token of the source; else it is `first_id`.
  bool wraps_source = false;
  int first_id = -1;              // -1: the decoder start of generation
  std::vector<DenseSpec> layers;  // slots "head.<i>"
  // With kSequence, in decoders: tokens with this id at the end of a prompt do
  // not count. -1: all tokens count.
  int padding_id = -1;
  // With kSequence, in decoders: the score is the logit of token `yes_id` of
  // the vocabulary projection (slot "logits.weight"), less that of `no_id`
  // unless that is -1. Then there are no layers. -1: the layers score.
  int yes_id = -1;
  int no_id = -1;
};

// norm(activation(x W^T + b)), or without the norm. Slots "logits.projection"
// and "logits.projection.norm".
struct ProjectionSpec {
  int out = 0;
  Activation activation = Activation::kNone;
  std::optional<NormSpec> norm = std::nullopt;
};

// Low-rank changes of an encoder's linear maps and tables, one of which a
// sequence may choose (Hu et al. 2021): W + scale * B A. Slots: see
// load_adapters.h.
struct AdaptersSpec {
  int count = 0;
  int rank = 0;  // of each
  float scale = 1;

  // Numbers of a row's products with all matrices A of a map.
  int width() const { return count * rank; }
};

// An encoder, a decoder, or both. Decoders are causal, encoders are not: a
// decoder-only model that sees both ways has an encoder.
struct TransformerSpec {
  int hidden = 0;
  std::optional<StackSpec> encoder;
  std::optional<StackSpec> decoder;
  // For models with an encoder, and for decoders that do not generate.
  EmbedSpec embed;
  // Further ways to embed a source, of which a request chooses one: number 1
  // and so on, `embed` being number 0. The layers of number i are slots
  // "embed<i>.<layer>". Not of tokens: neither `tokens` nor sparse layers.
  std::vector<EmbedSpec> routes = {};
  std::optional<HeadSpec> head;
  // Only of an encoder alone.
  std::optional<AdaptersSpec> adapters = std::nullopt;
  // The decoder has a vocabulary projection. False, only without an encoder:
  // the vectors of a prompt's tokens are embedded, or are input to the head.
  bool generates = true;
  // Factor of the decoder's output, before the vocabulary projection.
  float logits_scale = 1;
  // Maps the decoder's output to what the vocabulary projection reads.
  std::optional<ProjectionSpec> logits_projection = std::nullopt;
  // The vocabulary projection adds slot "logits.bias".
  bool logits_bias = false;
  // Logits become softcap * tanh(logit / softcap); 0: no cap.
  float logits_softcap = 0;

  // OK if the transformer computes exactly this spec. INVALID_ARGUMENT names
  // the first field that is out of range, contradicts another field, or is not
  // computed in its place, as "decoder.layers[3].cross_attention.window".
  absl::Status Validate() const;

  // The embedding of a request's source, which in a model without an encoder is
  // the prompt.
  const EmbeddingSpec& SourceEmbedding() const {
    return encoder ? encoder->embedding : decoder->embedding;
  }
  int Routes() const { return 1 + static_cast<int>(routes.size()); }
  const EmbedSpec& Route(int route) const {
    return route == 0 ? embed : routes[route - 1];
  }
  // Numbers that the first layer of a route reads, and numbers of an embedding.
  int PooledWidth(int route = 0) const {
    return hidden * static_cast<int>(Route(route).poolings.size());
  }
  int EmbedWidth(int route = 0) const {
    const std::vector<DenseSpec>& layers = Route(route).layers;
    return layers.empty() ? PooledWidth(route) : layers.back().out;
  }
  // Numbers of a token's vector.
  int TokenWidth() const {
    const bool mapped = embed.tokens && !embed.tokens->layers.empty();
    return mapped ? embed.tokens->layers.back().out : hidden;
  }
  // Numbers that a source of `rows` tokens has as sparse weights: one of each
  // token of the source, or of the vocabulary.
  int SparseNumbers(int rows) const {
    return embed.sparse->layers.empty() ? LogitsVocab() : rows;
  }
  // Rows of the vocabulary projection; 0: no vocabulary projection.
  int LogitsVocab() const {
    if (decoder) return generates ? decoder->embedding.vocab : 0;
    const bool masked_lm = head && head->kind == HeadKind::kMaskedLm;
    return masked_lm ? encoder->embedding.vocab : 0;
  }
};

// The slots of the layers of a route: "embed", "embed1", ...
inline std::string RouteSlot(int route) {
  return route == 0 ? "embed" : "embed" + std::to_string(route);
}

// The tokens [0, PreciseTokens()) have precise weights in int8
// (MatMul::Create()): those that texts have most often, since vocabularies
// begin with them. None beside an encoder: translations are not better.
inline int PreciseTokens(const TransformerSpec& spec) {
  return spec.encoder ? 0 : spec.LogitsVocab() / 16;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_SPEC_H_
