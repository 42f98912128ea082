#include "engine/transformer/validate_distances.h"

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
