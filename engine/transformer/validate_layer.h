#ifndef ATTEND_ENGINE_TRANSFORMER_VALIDATE_LAYER_H_
#define ATTEND_ENGINE_TRANSFORMER_VALIDATE_LAYER_H_

#include <string>

#include "absl/status/status.h"
#include "engine/transformer/spec.h"

namespace attend {

// Parts of TransformerSpec::Validate(); `at` is the way to what is checked.

absl::Status CheckNorm(const std::string& at, const NormSpec& norm);

// `crosses`: the layer is a decoder's beside an encoder.
absl::Status CheckLayer(const std::string& at, const LayerSpec& layer,
                        bool crosses);

// That both have keys and values of one shape, as a pool has them.
absl::Status CheckSameKv(const std::string& at, const AttentionSpec& attention,
                         const std::string& first_at,
                         const AttentionSpec& first);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_VALIDATE_LAYER_H_
