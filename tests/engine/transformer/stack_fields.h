#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_STACK_FIELDS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_STACK_FIELDS_H_

#include "engine/transformer/spec.h"
#include "tests/engine/transformer/field_row.h"

namespace attend {

// The fields of what is around the layers, each set to something else.

ATTEND_FIELDS(EmbeddingSpec, vocab, width, projects_tokens, scale, positions,
              max_positions, position_offset, uncounted_id, token_types, norm)
ATTEND_FIELDS(RelativeBiasSpec, buckets, max_distance)
ATTEND_FIELDS(StackSpec, embedding, layers, relative_bias)
ATTEND_FIELDS(DenseSpec, out, activation, norm)
ATTEND_FIELDS(EmbedSpec, pooling, layers, normalize)
ATTEND_FIELDS(HeadSpec, kind, pooling, layers)
ATTEND_FIELDS(TransformerSpec, hidden, encoder, decoder, embed, head,
              logits_scale, logits_width, logits_bias, logits_softcap)

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
    {"token_types", [](EmbeddingSpec& s) { s.token_types = 3; }},
    {"norm", [](EmbeddingSpec& s) { Toggle(s.norm, NormSpec()); }},
};

inline constexpr Row<RelativeBiasSpec> kRelativeBias[] = {
    {"buckets", [](RelativeBiasSpec& s) { s.buckets = 12; }, "12"},
    {"buckets", [](RelativeBiasSpec& s) { s.buckets = 1; }, "1"},
    {"max_distance", [](RelativeBiasSpec& s) { s.max_distance = 20; }, "20"},
    {"max_distance", [](RelativeBiasSpec& s) { s.max_distance = 2; }, "2"},
};

inline constexpr Row<StackSpec> kStack[] = {
    {"embedding", [](StackSpec& s) { s.embedding.scale = 0.5f; }},
    {"layers", [](StackSpec& s) { s.layers.push_back(s.layers[0]); }, "three"},
    {"layers", [](StackSpec& s) { s.layers.clear(); }, "none"},
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
};

inline constexpr Row<DenseSpec> kDense[] = {
    {"out", [](DenseSpec& s) { s.out = 9; }, "9"},
    {"out", [](DenseSpec& s) { s.out = 0; }, "0"},
    {"activation", [](DenseSpec& s) { s.activation = Activation::kRelu; }},
    {"norm", [](DenseSpec& s) { Toggle(s.norm, NormSpec()); }},
};

inline constexpr Row<EmbedSpec> kEmbed[] = {
    {"pooling", [](EmbedSpec& s) { s.pooling = Pooling::kCls; }, "cls"},
    {"pooling", [](EmbedSpec& s) { s.pooling = Pooling::kMax; }, "max"},
    {"pooling", [](EmbedSpec& s) { s.pooling = Pooling::kLast; }, "last"},
    {"layers", [](EmbedSpec& s) { s.layers.push_back({.out = 7}); }},
    {"normalize", [](EmbedSpec& s) { s.normalize = true; }},
};

inline constexpr Row<HeadSpec> kHead[] = {
    {"kind", [](HeadSpec& s) { s.kind = HeadKind::kSequence; }, "sequence",
     /*shows=*/false},
    {"kind", [](HeadSpec& s) { s.kind = HeadKind::kTokens; }, "tokens"},
    {"kind", [](HeadSpec& s) { s.kind = HeadKind::kMaskedLm; }, "masked lm",
     /*shows=*/false},
    {"pooling", [](HeadSpec& s) { s.pooling = Pooling::kMean; }},
    {"layers", [](HeadSpec& s) { s.layers.push_back({.out = 7}); }},
};

inline constexpr Row<TransformerSpec> kTransformer[] = {
    {"hidden", [](TransformerSpec& s) { s.hidden = 32; }, "32"},
    {"hidden", [](TransformerSpec& s) { s.hidden = 0; }, "0"},
    {"encoder",
     [](TransformerSpec& s) {
       Toggle(s.encoder, s.decoder.value_or(StackSpec()));
     }},
    {"decoder",
     [](TransformerSpec& s) {
       Toggle(s.decoder, s.encoder.value_or(StackSpec()));
     }},
    {"embed", [](TransformerSpec& s) { s.embed.layers = {{.out = 6}}; }},
    {"head", [](TransformerSpec& s) { Toggle(s.head, HeadSpec()); }},
    {"logits_scale", [](TransformerSpec& s) { s.logits_scale = 0.3f; }},
    {"logits_width", [](TransformerSpec& s) { s.logits_width = 14; }},
    {"logits_bias", [](TransformerSpec& s) { s.logits_bias = true; }},
    {"logits_softcap", [](TransformerSpec& s) { s.logits_softcap = 1.5f; }},
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_STACK_FIELDS_H_
