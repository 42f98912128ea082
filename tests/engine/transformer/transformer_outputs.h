#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_OUTPUTS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_OUTPUTS_H_

#include <map>
#include <string>

#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "tests/engine/transformer/naive_transformer.h"

namespace attend {

// All outputs of a transformer for a source and a target, which depend on its
// vocabularies only. With an encoder: "encoder", "vector" and "head". With a
// decoder that generates: "logits".
using Outputs = std::map<std::string, Rows>;

Outputs NaiveOutputs(const TransformerSpec& spec, const TensorsBySlot& weights);

// The outputs of the transformer. Encodes the source at once and in small
// pieces, which must give the same bits; computes the target in pieces.
Outputs EngineOutputs(Compute& compute, const TransformerSpec& spec,
                      const TensorsBySlot& weights,
                      ComputeType dtype = ComputeType::kF32);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_OUTPUTS_H_
