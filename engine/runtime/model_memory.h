#ifndef ATTEND_ENGINE_RUNTIME_MODEL_MEMORY_H_
#define ATTEND_ENGINE_RUNTIME_MODEL_MEMORY_H_

#include <cstddef>
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

// A lower bound of the bytes that the weights take when matmuls compute in
// `dtype`. Tensors that `names` lists as unused count nothing. Of the tensors
// that may be token tables only the largest one counts, as stored or in
// `dtype`, whichever is smaller.
uint64_t WeightBytes(const TensorSource& source, const NameTable& names,
                     const TransformerSpec& spec, ComputeType dtype);

// The bytes that the buffer of encodes takes for a token. The spec has an
// encoder.
uint64_t EncodeRowBytes(const TransformerSpec& spec);

// How many tokens' keys and values the KV pool holds, at most the largest int;
// 0 without a decoder. No sequence is longer.
int PoolTokens(const TransformerSpec& spec, ComputeType dtype,
               const EngineOptions& options);

// The bytes of a KV pool that holds the keys and values of `tokens` tokens. The
// spec has a decoder.
size_t BytesOfTokens(const TransformerSpec& spec, ComputeType dtype,
                     const EngineOptions& options, int tokens);

// Lower bounds of the memory that serving takes beside the weights. `options`
// have been fitted to the model by FitOptions().
std::vector<MemoryNeed> ServingNeeds(const TransformerSpec& spec,
                                     ComputeType dtype,
                                     const EngineOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_MODEL_MEMORY_H_
