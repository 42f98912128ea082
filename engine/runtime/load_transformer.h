#ifndef ATTEND_ENGINE_RUNTIME_LOAD_TRANSFORMER_H_
#define ATTEND_ENGINE_RUNTIME_LOAD_TRANSFORMER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/runtime/engine_options.h"
#include "engine/runtime/model_files.h"
#include "engine/transformer/transformer.h"

namespace attend {

// Reads the weights of a model whose files are open; takes files.family.names.
// Errors name the tensor, or the file that has changed meanwhile.
absl::StatusOr<std::unique_ptr<Transformer>> LoadTransformer(
    Compute& compute, ModelFiles& files, ComputeType dtype,
    const EngineOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_LOAD_TRANSFORMER_H_
