#ifndef ATTEND_ENGINE_RUNTIME_VALIDATE_INPUT_H_
#define ATTEND_ENGINE_RUNTIME_VALIDATE_INPUT_H_

#include "absl/status/status.h"
#include "engine/api/engine.h"
#include "engine/transformer/spec.h"

namespace attend {

// Whether a model of this spec takes the input. INVALID_ARGUMENT names what is
// wrong, its value and limit.
absl::Status ValidateInput(const EngineInput& input, const ModelInfo& info,
                           const TransformerSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_VALIDATE_INPUT_H_
