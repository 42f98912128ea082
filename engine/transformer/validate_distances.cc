#include "engine/transformer/validate_distances.h"

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/field_checks.h"
#include "engine/transformer/validate_layer.h"

namespace attend {

absl::Status CheckBias(const std::string& at, const RelativeBiasSpec& bias,
                       bool causal) {
  const std::string buckets = at + ".buckets";
  RETURN_IF_ERROR(AtLeast(buckets, bias.buckets, causal ? 2 : 4));
  if (!causal && bias.buckets % 2 != 0) {
    return Unexpected(buckets, bias.buckets,
                      "an even number, half of it for keys after the query");
  }
  return AtLeast(at + ".max_distance", bias.max_distance,
                 bias.buckets / (causal ? 2 : 4) + 1);
}

absl::Status CheckStoredFrequencies(const std::string& name,
                                    const StackSpec& stack) {
  if (!stack.stored_frequencies) return absl::OkStatus();
  const std::string field = name + ".stored_frequencies";
  RETURN_IF_ERROR(Unset(field, stack.layers.empty(), "without layers"));
  const auto& first = stack.layers.front().self_attention.rotary;
  RETURN_IF_ERROR(Unset(field, !first || first->by_length(),
                        "without a rotary for all lengths"));
  for (const LayerSpec& layer : stack.layers) {
    RETURN_IF_ERROR(Unset(field, layer.self_attention.rotary != first,
                          "where layers have other rotaries"));
  }
  return absl::OkStatus();
}

absl::Status CheckConvolution(const std::string& at, const StackSpec& stack,
                              int hidden) {
  const ConvolutionSpec& spec = *stack.convolution;
  if (spec.size < 1 || spec.size % 2 == 0) {
    return Unexpected(at + ".size", spec.size, "an odd number above 0");
  }
  if (spec.groups < 1 || hidden % spec.groups != 0) {
    return Unexpected(at + ".groups", spec.groups,
                      absl::StrCat("a divisor of hidden, ", hidden));
  }
  RETURN_IF_ERROR(CheckNorm(at + ".norm", spec.norm));
  RETURN_IF_ERROR(Unset(at, stack.layers.empty(), "without layers"));
  RETURN_IF_ERROR(Unset(at, stack.layers.front().norm_place != NormPlace::kPost,
                        "where norms come before the branches"));
  return Unset(at, stack.embedding.width != hidden,
               "where embedding.width is not that of the model");
}

absl::Status CheckDistances(const std::string& at, const DistanceSpec& spec) {
  RETURN_IF_ERROR(AtLeast(at + ".side", spec.side, 1));
  RETURN_IF_ERROR(AtLeast(at + ".max_distance", spec.max_distance, 0));
  if (spec.max_distance > 0) {
    RETURN_IF_ERROR(AtLeast(at + ".side", spec.side, 4));
    RETURN_IF_ERROR(
        AtLeast(at + ".max_distance", spec.max_distance, spec.side / 2 + 2));
  }
  if (spec.norm) RETURN_IF_ERROR(CheckNorm(at + ".norm", *spec.norm));
  if (spec.keys || spec.queries) return absl::OkStatus();
  return Unexpected(at + ".queries", "false", "true without keys");
}

}  // namespace attend
