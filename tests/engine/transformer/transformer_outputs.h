#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_OUTPUTS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_OUTPUTS_H_

#include <map>
#include <string>

#include "engine/compute/compute.h"
#include "tests/engine/transformer/naive_transformer.h"

namespace attend {

// All that a transformer makes of a source and a target, which depend on its
// vocabularies only: "encoder", "vector" and "head" where it encodes, "logits"
// where it decodes.
using Outputs = std::map<std::string, Rows>;

Outputs NaiveOutputs(const TransformerSpec& spec, const TensorsBySlot& weights);

// The same in f32; the encode at once, which must have the bits of one in small
// pieces, and the target in chunks.
Outputs EngineOutputs(Compute& compute, const TransformerSpec& spec,
                      const TensorsBySlot& weights);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_TRANSFORMER_OUTPUTS_H_
