#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_LAYER_FIELDS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_LAYER_FIELDS_H_

#include "engine/layers/rotary_spec.h"
#include "engine/transformer/spec.h"
#include "tests/engine/transformer/field_row.h"

namespace attend {

// The fields of LayerSpec and the specs inside it, each set to another value.

ATTEND_FIELDS(NormSpec, kind, epsilon, unit_offset)
ATTEND_FIELDS(RotarySpec, frequencies, magnitude, original_positions,
              long_frequencies, theta, factor, recomputes)
ATTEND_FIELDS(AttentionSpec, heads, kv_heads, head_dim, scale, clip, head_norm,
              joint_norm, norm_by_head, norm_after_rotation, rotary,
              rotates_values, softcap, slopes, symmetric, window)
ATTEND_FIELDS(ExpertsSpec, count, chosen, normalized)
ATTEND_FIELDS(FeedForwardSpec, width, activation, gated, experts)
ATTEND_FIELDS(LayerSpec, norm, norm_place, self_norm, ffn_norm, branch_norm,
              sum_norm, parallel, self_attention, cross_attention, feed_forward)

inline RotarySpec PlainRotary() { return {RotaryFrequencies(100, 6), 1.2f}; }

inline constexpr Row<NormSpec> kNorm[] = {
    {"kind", [](NormSpec& s) { s.kind = NormKind::kRmsNorm; }},
    {"epsilon", [](NormSpec& s) { s.epsilon = 0.5f; }},
    {"unit_offset", [](NormSpec& s) { s.unit_offset = true; }},
};

inline void Stretch(int after, RotarySpec& s) {
  s.original_positions = after;
  s.theta = 100;
  s.factor = 4;
}
inline void MakeLong(int after, RotarySpec& s) {
  s.original_positions = after;
  s.long_frequencies = {0.7f, 0.3f, 0.01f};
}

// In these tests a sequence begins with 17 tokens and ends with 20.
inline constexpr Row<RotarySpec> kRotary[] = {
    {"frequencies",
     [](RotarySpec& s) {
       s.frequencies = {0.7f, 0.2f};
     }},
    {"magnitude", [](RotarySpec& s) { s.magnitude = 0.8f; }},
    {"original_positions", [](RotarySpec& s) { Stretch(9, s); }, "9"},
    {"original_positions", [](RotarySpec& s) { Stretch(17, s); }, "17"},
    {"original_positions", [](RotarySpec& s) { Stretch(20, s); }, "20",
     /*shows=*/false},
    {"theta", [](RotarySpec& s) { s.theta = 100; }},
    {"factor", [](RotarySpec& s) { s.factor = 4; }},
    {"original_positions", [](RotarySpec& s) { MakeLong(19, s); },
     "19 and others"},
    {"original_positions", [](RotarySpec& s) { MakeLong(20, s); },
     "20 and others", /*shows=*/false},
    {"original_positions",
     [](RotarySpec& s) {
       MakeLong(18, s);
       s.recomputes = false;
     },
     "18 and others, kept"},
    {"recomputes", [](RotarySpec& s) { s.recomputes = false; }},
    {"long_frequencies",
     [](RotarySpec& s) {
       s.long_frequencies = {0.7f, 0.3f, 0.01f};
     }},
};

inline constexpr Row<AttentionSpec> kAttention[] = {
    {"heads", [](AttentionSpec& s) { s.heads = 6; }, "6"},
    {"heads", [](AttentionSpec& s) { s.heads = 3; }, "3"},
    {"kv_heads", [](AttentionSpec& s) { s.kv_heads = 4; }},
    {"head_dim", [](AttentionSpec& s) { s.head_dim = 10; }, "10"},
    {"head_dim", [](AttentionSpec& s) { s.head_dim = 0; }, "0"},
    {"scale", [](AttentionSpec& s) { s.scale = 0.7f; }, "0.7"},
    {"scale", [](AttentionSpec& s) { s.scale = 0; }, "0"},
    {"clip", [](AttentionSpec& s) { s.clip = 0.6f; }},
    {"head_norm", [](AttentionSpec& s) { Toggle(s.head_norm, NormSpec()); }},
    {"joint_norm", [](AttentionSpec& s) { s.joint_norm = true; }, "true"},
    {"joint_norm",
     [](AttentionSpec& s) {
       s.joint_norm = true;
       s.head_norm.reset();
     },
     "alone"},
    {"norm_by_head", [](AttentionSpec& s) { s.norm_by_head = true; }, "true"},
    {"norm_by_head",
     [](AttentionSpec& s) {
       s.norm_by_head = true;
       s.head_norm.reset();
     },
     "alone"},
    {"norm_by_head",
     [](AttentionSpec& s) {
       s.norm_by_head = true;
       s.joint_norm = true;
     },
     "joint"},
    {"norm_after_rotation",
     [](AttentionSpec& s) { s.norm_after_rotation = true; }, "true"},
    {"norm_after_rotation",
     [](AttentionSpec& s) {
       s.norm_after_rotation = true;
       s.head_norm.reset();
     },
     "without head_norm"},
    {"norm_after_rotation",
     [](AttentionSpec& s) {
       s.norm_after_rotation = true;
       s.rotary.reset();
     },
     "without rotary"},
    {"rotary", [](AttentionSpec& s) { Toggle(s.rotary, PlainRotary()); }},
    {"rotates_values", [](AttentionSpec& s) { s.rotates_values = true; }},
    {"rotates_values",
     [](AttentionSpec& s) {
       s.rotary.reset();
       s.rotates_values = true;
     },
     "alone"},
    {"softcap", [](AttentionSpec& s) { s.softcap = 0.8f; }},
    {"slopes",
     [](AttentionSpec& s) {
       s.slopes = {0.5f, 0.1f, 0.03f, 0.9f};
     },
     "of 4"},
    {"slopes",
     [](AttentionSpec& s) {
       s.slopes = {0.5f, 0.1f, 0.03f};
     },
     "of 3"},
    {"symmetric",
     [](AttentionSpec& s) {
       s.slopes = {0.5f, 0.1f, 0.03f, 0.9f};
       s.symmetric = true;
     },
     "slopes"},
    {"symmetric", [](AttentionSpec& s) { s.symmetric = true; }, "alone"},
    {"window", [](AttentionSpec& s) { s.window = 4; }},
};

inline constexpr Row<FeedForwardSpec> kFeedForward[] = {
    {"width", [](FeedForwardSpec& s) { s.width = 22; }},
    {"activation", [](FeedForwardSpec& s) { s.activation = Activation::kSilu; },
     "silu"},
    {"activation", [](FeedForwardSpec& s) { s.activation = Activation::kNone; },
     "none"},
    {"activation",
     [](FeedForwardSpec& s) { s.activation = Activation::kReluSquared; },
     "relu squared"},
    {"gated", [](FeedForwardSpec& s) { s.gated = true; }, "true"},
    {"gated",
     [](FeedForwardSpec& s) {
       s.gated = true;
       s.activation = Activation::kNone;
     },
     "by none"},
    {"experts",
     [](FeedForwardSpec& s) {
       s.experts = {5, 2};
     },
     "2 of 5"},
    {"experts",
     [](FeedForwardSpec& s) {
       s.experts = {3, 3};
     },
     "all"},
    {"experts",
     [](FeedForwardSpec& s) {
       s.experts = {4, 1};
       s.gated = true;
     },
     "gated"},
};

// Gives a layer experts.
inline void SetExperts(LayerSpec& s) { s.feed_forward.experts = {5, 2}; }

inline constexpr Row<LayerSpec> kLayer[] = {
    {"norm", [](LayerSpec& s) { s.norm.kind = NormKind::kRmsNorm; }},
    {"norm_place", [](LayerSpec& s) { s.norm_place = NormPlace::kPost; }},
    {"self_norm", [](LayerSpec& s) { s.self_norm = false; }, "false"},
    {"self_norm",
     [](LayerSpec& s) {
       s.self_norm = false;
       s.norm_place = NormPlace::kPost;
     },
     "false after"},
    {"ffn_norm", [](LayerSpec& s) { s.ffn_norm = false; }, "false"},
    {"ffn_norm",
     [](LayerSpec& s) {
       s.ffn_norm = false;
       SetExperts(s);
     },
     "false with experts"},
    {"ffn_norm",
     [](LayerSpec& s) {
       s.self_norm = s.ffn_norm = false;
       s.branch_norm = true;
     },
     "nor self_norm, but branch_norm"},
    {"ffn_norm",
     [](LayerSpec& s) {
       s.ffn_norm = false;
       s.norm_place = NormPlace::kPost;
     },
     "false after"},
    {"branch_norm", [](LayerSpec& s) { s.branch_norm = true; }, "true"},
    {"branch_norm",
     [](LayerSpec& s) {
       s.branch_norm = true;
       s.norm_place = NormPlace::kPost;
     },
     "after"},
    {"branch_norm",
     [](LayerSpec& s) {
       s.branch_norm = true;
       SetExperts(s);
     },
     "of experts"},
    {"norm_place",
     [](LayerSpec& s) {
       s.sum_norm = true;
       s.norm_place = NormPlace::kPost;
     },
     "after, with sum_norm"},
    {"sum_norm", [](LayerSpec& s) { s.sum_norm = true; }},
    {"parallel",
     [](LayerSpec& s) {
       s.parallel = true;
       SetExperts(s);
     },
     "with experts"},
    {"parallel", [](LayerSpec& s) { s.parallel = true; }, "true"},
    {"parallel",
     [](LayerSpec& s) {
       s.parallel = true;
       s.branch_norm = true;
       s.self_norm = false;
     },
     "with branch_norm"},
    {"parallel",
     [](LayerSpec& s) {
       s.parallel = true;
       s.norm_place = NormPlace::kPost;
     },
     "after"},
    {"self_attention", [](LayerSpec& s) { s.self_attention.scale = 1; }},
    {"cross_attention",
     [](LayerSpec& s) {
       AttentionSpec cross = s.self_attention;
       cross.head_norm.reset();
       cross.rotary.reset();
       Toggle(s.cross_attention, cross);
     }},
    {"feed_forward", [](LayerSpec& s) { s.feed_forward.gated = true; }},
};

inline constexpr Row<ExpertsSpec> kOfExperts[] = {
    {"count", [](ExpertsSpec& s) { s.count = 7; }, "7"},
    {"count", [](ExpertsSpec& s) { s.count = 0; }, "0"},
    {"chosen", [](ExpertsSpec& s) { s.chosen = 3; }, "3"},
    {"chosen", [](ExpertsSpec& s) { s.chosen = 0; }, "0"},
    {"chosen", [](ExpertsSpec& s) { s.chosen = 6; }, "6"},
    {"normalized", [](ExpertsSpec& s) { s.normalized = true; }},
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_LAYER_FIELDS_H_
