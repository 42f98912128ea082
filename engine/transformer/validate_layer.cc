#include "engine/transformer/validate_layer.h"

#include "absl/strings/str_cat.h"
#include "engine/ops/attention/rotate.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/field_checks.h"

namespace attend {
namespace {

// Checks the fields of frequencies that depend on the length of a sequence:
// long_frequencies, or theta and factor.
absl::Status CheckLengths(const std::string& at, const RotarySpec& rotary) {
  RETURN_IF_ERROR(
      AtLeast(at + ".original_positions", rotary.original_positions, 0));
  if (!rotary.by_length()) {
    RETURN_IF_ERROR(Unset(at + ".long_frequencies",
                          !rotary.long_frequencies.empty(),
                          "without original_positions"));
  }
  const bool has_long = !rotary.long_frequencies.empty();
  RETURN_IF_ERROR(Unset(at + ".recomputes", !rotary.recomputes && !has_long,
                        "without long_frequencies"));
  if (rotary.by_length() && !has_long) {
    RETURN_IF_ERROR(Positive(at + ".theta", rotary.theta));
    RETURN_IF_ERROR(Positive(at + ".factor", rotary.factor));
    return AtLeast(at + ".dims()", rotary.dims(), 4);
  }
  constexpr char kWhere[] = "where frequencies are given for all lengths";
  RETURN_IF_ERROR(Neutral(at + ".theta", rotary.theta, 0, kWhere));
  RETURN_IF_ERROR(Neutral(at + ".factor", rotary.factor, 0, kWhere));
  if (!has_long) return absl::OkStatus();
  return Same(at + ".long_frequencies.size()",
              static_cast<int>(rotary.long_frequencies.size()),
              at + ".frequencies", rotary.dims() / 2);
}

absl::Status CheckRotary(const std::string& at, const RotarySpec& rotary,
                         int head_dim) {
  const int dims = rotary.dims();
  if (dims < 2 || dims > head_dim || dims > kMaxRotaryDims) {
    return Unexpected(at + ".dims()", dims,
                      absl::StrCat("2 to head_dim, ", head_dim,
                                   ", and at most ", kMaxRotaryDims));
  }
  RETURN_IF_ERROR(Positive(at + ".magnitude", rotary.magnitude));
  return CheckLengths(at, rotary);
}

absl::Status CheckAttention(const std::string& at, const AttentionSpec& spec) {
  RETURN_IF_ERROR(AtLeast(at + ".heads", spec.heads, 1));
  RETURN_IF_ERROR(AtLeast(at + ".kv_heads", spec.kv_heads, 1));
  RETURN_IF_ERROR(AtLeast(at + ".head_dim", spec.head_dim, 1));
  if (spec.heads % spec.kv_heads != 0) {
    return Unexpected(at + ".heads", spec.heads,
                      absl::StrCat("a multiple of kv_heads, ", spec.kv_heads));
  }
  RETURN_IF_ERROR(Positive(at + ".scale", spec.scale));
  RETURN_IF_ERROR(ZeroOrMore(at + ".clip", spec.clip));
  RETURN_IF_ERROR(ZeroOrMore(at + ".softcap", spec.softcap));
  RETURN_IF_ERROR(AtLeast(at + ".window", spec.window, 0));
  if (!spec.slopes.empty()) {
    RETURN_IF_ERROR(Same(at + ".slopes.size()",
                         static_cast<int>(spec.slopes.size()), at + ".heads",
                         spec.heads));
  }
  RETURN_IF_ERROR(Unset(at + ".symmetric",
                        spec.symmetric && spec.slopes.empty(),
                        "without slopes"));
  if (spec.head_norm) {
    RETURN_IF_ERROR(CheckNorm(at + ".head_norm", *spec.head_norm));
  }
  RETURN_IF_ERROR(
      Unset(at + ".norm_by_head",
            spec.norm_by_head && (!spec.head_norm || spec.joint_norm),
            "without head_norm, or with joint_norm"));
  RETURN_IF_ERROR(Unset(at + ".joint_norm", spec.joint_norm && !spec.head_norm,
                        "without head_norm"));
  RETURN_IF_ERROR(
      Unset(at + ".norm_after_rotation",
            spec.norm_after_rotation && (!spec.head_norm || !spec.rotary),
            "without head_norm and rotary"));
  RETURN_IF_ERROR(Unset(at + ".rotates_values",
                        spec.rotates_values && !spec.rotary, "without rotary"));
  if (!spec.rotary) return absl::OkStatus();
  return CheckRotary(at + ".rotary", *spec.rotary, spec.head_dim);
}

absl::Status CheckFeedForward(const std::string& at,
                              const FeedForwardSpec& spec) {
  RETURN_IF_ERROR(AtLeast(at + ".width", spec.width, 1));
  if (!spec.experts) return absl::OkStatus();
  RETURN_IF_ERROR(AtLeast(at + ".experts.count", spec.experts->count, 1));
  const int chosen = spec.experts->chosen;
  if (chosen >= 1 && chosen <= spec.experts->count) return absl::OkStatus();
  return Unexpected(at + ".experts.chosen", chosen,
                    absl::StrCat("1 to count, ", spec.experts->count));
}

absl::Status CheckCross(const std::string& at, const LayerSpec& layer) {
  const std::string field = at + ".cross_attention";
  const AttentionSpec& cross = *layer.cross_attention;
  RETURN_IF_ERROR(CheckAttention(field, cross));
  RETURN_IF_ERROR(
      CheckSameKv(field, cross, at + ".self_attention", layer.self_attention));
  constexpr char kWhere[] = "in cross-attention";
  RETURN_IF_ERROR(
      Unset(field + ".head_norm", cross.head_norm.has_value(), kWhere));
  RETURN_IF_ERROR(Unset(field + ".rotary", cross.rotary.has_value(), kWhere));
  RETURN_IF_ERROR(Unset(field + ".symmetric", cross.symmetric, kWhere));
  RETURN_IF_ERROR(Unset(field + ".slopes", !cross.slopes.empty(), kWhere));
  RETURN_IF_ERROR(
      Neutral(field + ".window", static_cast<float>(cross.window), 0, kWhere));
  return Unset(at + ".parallel", layer.parallel, "beside cross-attention");
}

}  // namespace

absl::Status CheckNorm(const std::string& at, const NormSpec& norm) {
  return Positive(at + ".epsilon", norm.epsilon);
}

absl::Status CheckSameKv(const std::string& at, const AttentionSpec& attention,
                         const std::string& first_at,
                         const AttentionSpec& first) {
  RETURN_IF_ERROR(Same(at + ".kv_heads", attention.kv_heads,
                       first_at + ".kv_heads", first.kv_heads));
  return Same(at + ".head_dim", attention.head_dim, first_at + ".head_dim",
              first.head_dim);
}

absl::Status CheckLayer(const std::string& at, const LayerSpec& layer,
                        bool beside_encoder) {
  RETURN_IF_ERROR(CheckNorm(at + ".norm", layer.norm));
  if (layer.norm_place == NormPlace::kPost) {
    constexpr char kWhere[] = "where norms come after the sum";
    if (!layer.self_norm || !layer.ffn_norm) {
      return Unexpected(at + (layer.self_norm ? ".ffn_norm" : ".self_norm"),
                        "false", absl::StrCat("true ", kWhere));
    }
    RETURN_IF_ERROR(Unset(at + ".branch_norm", layer.branch_norm, kWhere));
    RETURN_IF_ERROR(Unset(at + ".parallel", layer.parallel, kWhere));
  } else {
    RETURN_IF_ERROR(Unset(at + ".sum_norm", layer.sum_norm,
                          "where norms come before the branches"));
  }
  RETURN_IF_ERROR(CheckAttention(at + ".self_attention", layer.self_attention));
  RETURN_IF_ERROR(CheckFeedForward(at + ".feed_forward", layer.feed_forward));
  if (beside_encoder && layer.cross_attention) return CheckCross(at, layer);
  if (beside_encoder) {
    return Unexpected(at + ".cross_attention", "unset",
                      "set in all layers of a decoder beside an encoder");
  }
  return Unset(at + ".cross_attention", layer.cross_attention.has_value(),
               "outside a decoder beside an encoder");
}

}  // namespace attend
