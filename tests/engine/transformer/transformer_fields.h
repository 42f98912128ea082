#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_FIELDS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_FIELDS_H_

#include "engine/transformer/spec.h"
#include "tests/engine/transformer/field_row.h"

namespace attend {

// The fields of TransformerSpec and its heads, each set to another value.

ATTEND_FIELDS(DenseSpec, out, activation, norm, pointwise, linear, residual,
              unit_length)
ATTEND_FIELDS(EmbedSpec, poolings, pools_prompt, layers, normalize, pooled,
              sparse, tokens)
ATTEND_FIELDS(HeadSpec, kind, pooling, pools_outputs, reads_decoder, reads_end,
              wraps_source, first_id, layers, padding_id, yes_id, no_id)
ATTEND_FIELDS(TransformerSpec, hidden, encoder, decoder, embed, routes, head,
              adapters, generates, logits_scale, logits_projection, logits_bias,
              logits_softcap)

inline constexpr Row<DenseSpec> kDense[] = {
    {"out", [](DenseSpec& s) { s.out = 9; }, "9"},
    {"out", [](DenseSpec& s) { s.out = 0; }, "0"},
    {"activation", [](DenseSpec& s) { s.activation = Activation::kRelu; }},
    {"norm", [](DenseSpec& s) { Toggle(s.norm, NormSpec()); }},
    {"pointwise", [](DenseSpec& s) { s.pointwise = Pointwise::kSigmoid; }},
    {"linear",
     [](DenseSpec& s) {
       s.linear = false;
       s.activation = Activation::kNone;
     }},
    {"linear", [](DenseSpec& s) { s.linear = false; }, "no map, activation"},
    {"residual", [](DenseSpec& s) { s.residual = true; }},
    {"unit_length", [](DenseSpec& s) { s.unit_length = true; }},
};

inline constexpr Row<EmbedSpec> kEmbed[] = {
    {"poolings", [](EmbedSpec& s) { s.poolings = {Pooling::kCls}; }, "cls"},
    {"poolings", [](EmbedSpec& s) { s.poolings = {Pooling::kMax}; }, "max"},
    {"poolings", [](EmbedSpec& s) { s.poolings = {Pooling::kLast}; }, "last"},
    {"poolings", [](EmbedSpec& s) { s.poolings = {Pooling::kMeanSqrtLength}; },
     "root of the length"},
    {"poolings", [](EmbedSpec& s) { s.poolings = {Pooling::kWeightedMean}; },
     "weighted"},
    {"poolings",
     [](EmbedSpec& s) {
       s.poolings = {Pooling::kMean, Pooling::kMax};
     },
     "two"},
    {"poolings", [](EmbedSpec& s) { s.poolings = {}; }, "none"},
    {"pools_prompt", [](EmbedSpec& s) { s.pools_prompt = false; }},
    {"layers", [](EmbedSpec& s) { s.layers.push_back({.out = 7}); }},
    {"normalize", [](EmbedSpec& s) { s.normalize = true; }},
    {"pooled", [](EmbedSpec& s) { s.pooled = false; }},
    {"sparse",
     [](EmbedSpec& s) { s.sparse = SparseSpec{.layers = {{.out = 1}}}; },
     "of tokens"},
    {"sparse",
     [](EmbedSpec& s) { s.sparse = SparseSpec{.layers = {{.out = 2}}}; },
     "of two numbers"},
    {"sparse",
     [](EmbedSpec& s) {
       s.sparse = SparseSpec{.layers = {{.out = 1}}, .sums = true};
     },
     "of tokens, sums"},
    {"sparse",
     [](EmbedSpec& s) {
       s.sparse = SparseSpec{.layers = {{.out = 1}}, .logs = 2};
     },
     "of tokens, logs"},
    {"sparse", [](EmbedSpec& s) { s.sparse = SparseSpec(); }, "of logits"},
    {"sparse",
     [](EmbedSpec& s) { s.sparse = SparseSpec{.layers = {}, .sums = true}; },
     "of logits, sums"},
    {"sparse",
     [](EmbedSpec& s) { s.sparse = SparseSpec{.layers = {}, .logs = 2}; },
     "of logits, logs"},
    {"tokens",
     [](EmbedSpec& s) { s.tokens = TokenVectorsSpec{.layers = {{.out = 5}}}; }},
};

inline constexpr Row<HeadSpec> kHead[] = {
    {"kind", [](HeadSpec& s) { s.kind = HeadKind::kSequence; }, "sequence",
     /*shows=*/false},
    {"kind", [](HeadSpec& s) { s.kind = HeadKind::kTokens; }, "tokens"},
    {"kind", [](HeadSpec& s) { s.kind = HeadKind::kMaskedLm; }, "masked lm",
     /*shows=*/false},
    {"pooling", [](HeadSpec& s) { s.pooling = Pooling::kMean; }},
    {"pools_outputs", [](HeadSpec& s) { s.pools_outputs = true; }, "first",
     /*shows=*/false},
    {"pools_outputs",
     [](HeadSpec& s) {
       s.pooling = Pooling::kMax;
       s.pools_outputs = true;
     },
     "greatest"},
    {"reads_decoder", [](HeadSpec& s) { s.reads_decoder = true; }},
    {"reads_end", [](HeadSpec& s) { s.reads_end = true; }},
    {"wraps_source", [](HeadSpec& s) { s.wraps_source = true; }},
    {"first_id", [](HeadSpec& s) { s.first_id = 3; }},
    {"layers", [](HeadSpec& s) { s.layers.push_back({.out = 7}); }},
    {"padding_id", [](HeadSpec& s) { s.padding_id = 3; }},
    {"yes_id", [](HeadSpec& s) { s.yes_id = 3; }},
    {"no_id", [](HeadSpec& s) { s.no_id = 2; }},
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
    {"routes",
     [](TransformerSpec& s) {
       s.routes = {{.poolings = {Pooling::kMax, Pooling::kCls},
                    .layers = {{.out = 9}},
                    .normalize = true},
                   {.pools_prompt = false}};
     },
     "two"},
    {"routes",
     [](TransformerSpec& s) {
       s.routes = {{.sparse = SparseSpec{.layers = {}, .sums = true}}};
     },
     "of logits"},
    {"routes", [](TransformerSpec& s) { s.routes = {{.poolings = {}}}; },
     "none pooled"},
    {"routes",
     [](TransformerSpec& s) {
       s.routes = {{.sparse = SparseSpec{.layers = {{.out = 1}}}}};
     },
     "of tokens' weights"},
    {"routes",
     [](TransformerSpec& s) { s.routes = {{.tokens = TokenVectorsSpec()}}; },
     "of tokens"},
    {"head", [](TransformerSpec& s) { Toggle(s.head, HeadSpec()); }},
    {"adapters",
     [](TransformerSpec& s) {
       s.adapters = {.count = 2, .rank = 3, .scale = 0.5f};
     },
     "that nobody chooses", /*shows=*/false},
    {"adapters",
     [](TransformerSpec& s) { s.adapters = {.count = 0, .rank = 3}; }, "none"},
    {"adapters",
     [](TransformerSpec& s) { s.adapters = {.count = 2, .rank = 0}; },
     "of no rank"},
    {"adapters",
     [](TransformerSpec& s) {
       s.adapters = {.count = 2, .rank = 3, .scale = 0};
     },
     "of scale 0"},
    {"generates", [](TransformerSpec& s) { s.generates = false; }},
    {"logits_scale", [](TransformerSpec& s) { s.logits_scale = 0.3f; }},
    {"logits_projection",
     [](TransformerSpec& s) { s.logits_projection = {.out = 14}; }, "of 14"},
    {"logits_projection",
     [](TransformerSpec& s) {
       s.logits_projection = {
           .out = 14, .activation = Activation::kGelu, .norm = NormSpec()};
     },
     "of 14, activated"},
    {"logits_projection",
     [](TransformerSpec& s) { s.logits_projection = {.out = 0}; }, "of none"},
    {"logits_bias", [](TransformerSpec& s) { s.logits_bias = true; }},
    {"logits_softcap", [](TransformerSpec& s) { s.logits_softcap = 1.5f; }},
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_FIELDS_H_
