#ifndef ATTEND_ENGINE_RUNTIME_VALIDATE_INPUT_H_
#define ATTEND_ENGINE_RUNTIME_VALIDATE_INPUT_H_

#include "absl/status/status.h"
#include "engine/api/engine.h"
#include "engine/transformer/spec.h"

namespace attend {

// Checks that the model takes this input: a source or a prompt, its length,
// ids, types and positions. INVALID_ARGUMENT names what is wrong, its value and
// the limit.
absl::Status ValidateInput(const EngineInput& input, const ModelInfo& info,
                           const TransformerSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_VALIDATE_INPUT_H_
