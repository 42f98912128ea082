#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_STACK_FIELDS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_STACK_FIELDS_H_

#include "engine/transformer/spec.h"
#include "tests/engine/transformer/field_row.h"

namespace attend {

// The fields of StackSpec and EmbeddingSpec, each set to another value.

ATTEND_FIELDS(EmbeddingSpec, vocab, width, projects_tokens, scale, zero_start,
              positions, max_positions, position_offset, uncounted_id,
              dropped_id, token_types, task_types, norm, norms_tokens)
ATTEND_FIELDS(RelativeBiasSpec, buckets, max_distance, per_layer)
ATTEND_FIELDS(DistanceSpec, side, max_distance, norm, keys, queries)
ATTEND_FIELDS(ConvolutionSpec, size, groups, activation, norm)
ATTEND_FIELDS(StackSpec, embedding, layers, relative_bias, distances,
              convolution, stored_frequencies)

inline constexpr Row<EmbeddingSpec> kEmbedding[] = {
    {"vocab", [](EmbeddingSpec& s) { s.vocab = 37; }},
    {"width", [](EmbeddingSpec& s) { s.width = 14; }, "14"},
    {"projects_tokens", [](EmbeddingSpec& s) { s.projects_tokens = true; },
     "alone"},
    {"projects_tokens",
     [](EmbeddingSpec& s) {
       s.projects_tokens = true;
       s.width = 14;
     },
     "of 14"},
    {"scale", [](EmbeddingSpec& s) { s.scale = 0.3f; }},
    {"zero_start", [](EmbeddingSpec& s) { s.zero_start = true; }},
    {"positions",
     [](EmbeddingSpec& s) { s.positions = Positions::kSinusoidal; },
     "sinusoidal"},
    {"positions",
     [](EmbeddingSpec& s) { s.positions = Positions::kSinusoidalToEnd; },
     "to the end"},
    {"positions",
     [](EmbeddingSpec& s) {
       s.positions = Positions::kNone;
       s.position_offset = 0;
     },
     "none"},
    {"width",
     [](EmbeddingSpec& s) {
       s.positions = Positions::kSinusoidalToEnd;
       s.width = 13;
     },
     "13 of sinusoids"},
    {"max_positions", [](EmbeddingSpec& s) { s.max_positions = 80; }, "80",
     /*shows=*/false},
    {"max_positions", [](EmbeddingSpec& s) { s.max_positions = 0; }, "0"},
    {"position_offset", [](EmbeddingSpec& s) { s.position_offset = 3; }, "3"},
    {"position_offset",
     [](EmbeddingSpec& s) {
       s.position_offset = 0;
       s.uncounted_id = 7;
     },
     "0 with an uncounted id"},
    {"position_offset",
     [](EmbeddingSpec& s) { s.positions = Positions::kNone; }, "of none"},
    {"uncounted_id", [](EmbeddingSpec& s) { s.uncounted_id = 7; }, "7"},
    {"uncounted_id",
     [](EmbeddingSpec& s) {
       s.uncounted_id = 7;
       s.positions = Positions::kSinusoidalToEnd;
     },
     "7 of sinusoids"},
    {"uncounted_id",
     [](EmbeddingSpec& s) {
       s.uncounted_id = 7;
       s.positions = Positions::kNone;
       s.position_offset = 0;
     },
     "7 of none"},
    {"dropped_id", [](EmbeddingSpec& s) { s.dropped_id = 7; }, "7"},
    {"dropped_id", [](EmbeddingSpec& s) { s.dropped_id = -2; }, "-2"},
    {"token_types", [](EmbeddingSpec& s) { s.token_types = 3; }},
    {"task_types",
     [](EmbeddingSpec& s) {
       s.token_types = 3;
       s.task_types = 2;
     },
     "beside token types"},
    {"task_types", [](EmbeddingSpec& s) { s.task_types = 2; }, "alone"},
    {"norm", [](EmbeddingSpec& s) { Toggle(s.norm, NormSpec()); }},
    {"norms_tokens", [](EmbeddingSpec& s) { s.norms_tokens = true; }, "true"},
    {"norms_tokens",
     [](EmbeddingSpec& s) {
       s.norms_tokens = true;
       s.norm.reset();
     },
     "without a norm"},
    {"norms_tokens",
     [](EmbeddingSpec& s) {
       s.norms_tokens = true;
       s.width = 14;
     },
     "of 14"},
};

inline constexpr Row<RelativeBiasSpec> kRelativeBias[] = {
    {"buckets", [](RelativeBiasSpec& s) { s.buckets = 12; }, "12"},
    {"buckets", [](RelativeBiasSpec& s) { s.buckets = 1; }, "1"},
    {"max_distance", [](RelativeBiasSpec& s) { s.max_distance = 20; }, "20"},
    {"max_distance", [](RelativeBiasSpec& s) { s.max_distance = 2; }, "2"},
    {"per_layer", [](RelativeBiasSpec& s) { s.per_layer = true; }},
};

inline constexpr Row<DistanceSpec> kDistances[] = {
    {"side", [](DistanceSpec& s) { s.side = 5; }, "5"},
    {"side", [](DistanceSpec& s) { s.side = 3; }, "3"},
    {"max_distance", [](DistanceSpec& s) { s.max_distance = 19; }, "19"},
    {"max_distance", [](DistanceSpec& s) { s.max_distance = 0; }, "0"},
    {"max_distance", [](DistanceSpec& s) { s.max_distance = 4; }, "4"},
    {"norm", [](DistanceSpec& s) { Toggle(s.norm, NormSpec()); }},
    {"keys", [](DistanceSpec& s) { s.keys = false; }},
    {"queries", [](DistanceSpec& s) { s.queries = false; }, "alone"},
    {"queries",
     [](DistanceSpec& s) {
       s.keys = false;
       s.queries = false;
     },
     "nor keys"},
};

// In the tests' models all norms come after the sums beside a convolution.
inline void MakePost(StackSpec& s) {
  for (LayerSpec& layer : s.layers) layer.norm_place = NormPlace::kPost;
}

inline constexpr Row<ConvolutionSpec> kConvolution[] = {
    {"size", [](ConvolutionSpec& s) { s.size = 5; }, "5"},
    {"size", [](ConvolutionSpec& s) { s.size = 2; }, "2"},
    {"groups", [](ConvolutionSpec& s) { s.groups = 2; }, "2"},
    {"groups", [](ConvolutionSpec& s) { s.groups = 7; }, "7"},
    {"activation",
     [](ConvolutionSpec& s) { s.activation = Activation::kGelu; }},
    {"norm", [](ConvolutionSpec& s) { s.norm.kind = NormKind::kRmsNorm; }},
};

inline constexpr Row<StackSpec> kStack[] = {
    {"embedding", [](StackSpec& s) { s.embedding.scale = 0.5f; }},
    {"layers", [](StackSpec& s) { s.layers.push_back(s.layers[0]); }, "three"},
    {"layers", [](StackSpec& s) { s.layers.clear(); }, "none"},
    {"layers",
     [](StackSpec& s) {
       s.layers.clear();
       s.relative_bias.reset();
     },
     "none, no bias"},
    {"layers",
     [](StackSpec& s) {
       s.relative_bias.reset();
       s.layers[1].self_attention.heads = 8;
       s.layers[1].feed_forward.width = 40;
     },
     "of other widths"},
    {"layers",
     [](StackSpec& s) {
       for (LayerSpec& layer : s.layers) {
         RotarySpec& rotary = *layer.self_attention.rotary;
         rotary.original_positions = 9;
         rotary.theta = 100;
         rotary.factor = &layer == &s.layers[0] ? 3 : 4;
       }
     },
     "of other lengths"},
    {"relative_bias",
     [](StackSpec& s) { Toggle(s.relative_bias, {.buckets = 8}); }},
    {"distances", [](StackSpec& s) { Toggle(s.distances, {.side = 6}); }},
    {"convolution",
     [](StackSpec& s) {
       MakePost(s);
       s.convolution.emplace().size = 3;
     },
     "of 3"},
    {"convolution", [](StackSpec& s) { s.convolution.emplace().size = 3; },
     "after norms"},
    {"convolution",
     [](StackSpec& s) {
       MakePost(s);
       s.convolution.emplace().size = 3;
       s.embedding.width = 14;
     },
     "of 14"},
    {"stored_frequencies", [](StackSpec& s) { s.stored_frequencies = true; },
     "of all"},
    {"stored_frequencies",
     [](StackSpec& s) {
       s.stored_frequencies = true;
       s.layers[1].self_attention.rotary->magnitude = 0.7f;
     },
     "of others"},
    {"stored_frequencies",
     [](StackSpec& s) {
       s.stored_frequencies = true;
       for (LayerSpec& layer : s.layers) layer.self_attention.rotary.reset();
     },
     "of none"},
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_STACK_FIELDS_H_
