#ifndef ATTEND_ENGINE_TRANSFORMER_VALIDATE_LAYER_H_
#define ATTEND_ENGINE_TRANSFORMER_VALIDATE_LAYER_H_

#include <string>

#include "absl/status/status.h"
#include "engine/transformer/spec.h"

namespace attend {

// Functions of TransformerSpec::Validate(). `at` is the path of the checked
// field, as "decoder.layers[3]".

absl::Status CheckNorm(const std::string& at, const NormSpec& norm);

// `beside_encoder`: the layer is of a decoder beside an encoder.
absl::Status CheckLayer(const std::string& at, const LayerSpec& layer,
                        bool beside_encoder);

// Checks that both attentions have the same kv_heads and head_dim: a pool has
// one layout.
absl::Status CheckSameKv(const std::string& at, const AttentionSpec& attention,
                         const std::string& first_at,
                         const AttentionSpec& first);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_VALIDATE_LAYER_H_
