#ifndef ATTEND_ENGINE_TRANSFORMER_HEAD_NORMS_H_
#define ATTEND_ENGINE_TRANSFORMER_HEAD_NORMS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/layers/multi_head_attention.h"
#include "engine/transformer/layer_spec.h"

namespace attend {

// The norms of queries and keys; nullopt if the spec has none. Slots
// "<prefix>.q.norm" and "<prefix>.k.norm"; with norm_by_head one for each head,
// "<prefix>.q.norm.<head>". Errors name the tensor.
absl::StatusOr<std::optional<HeadNorms>> LoadHeadNorms(
    Weights& weights, const std::string& prefix, const AttentionSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_HEAD_NORMS_H_
