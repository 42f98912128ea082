#ifndef ATTEND_ENGINE_RUNTIME_MODEL_MEMORY_H_
#define ATTEND_ENGINE_RUNTIME_MODEL_MEMORY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/checkpoint/weights.h"
#include "engine/compute/memory_limit.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/runtime/engine_options.h"
#include "engine/transformer/spec.h"

namespace attend {

// Bytes that the weights take at least when the matmuls compute in `dtype`:
// tensors that `names` lists as unused take none, and of those that may be
// tables of tokens the largest one counts, in the smaller of both numbers.
uint64_t WeightBytes(const TensorSource& source, const NameTable& names,
                     const TransformerSpec& spec, ComputeType dtype);

// What a model that `spec` describes takes beside its weights, at least, when
// it is served with these options, which FitOptions() has fitted to it.
std::vector<MemoryNeed> ServingNeeds(const TransformerSpec& spec,
                                     ComputeType dtype,
                                     const EngineOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_MODEL_MEMORY_H_
