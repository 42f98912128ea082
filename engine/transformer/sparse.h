#ifndef ATTEND_ENGINE_TRANSFORMER_SPARSE_H_
#define ATTEND_ENGINE_TRANSFORMER_SPARSE_H_

#include "absl/types/span.h"
#include "engine/transformer/spec.h"

namespace attend {

// Pools the masked-LM logits of a source's tokens into weights, as SparseSpec
// says. `weights` begin with zeros; both functions may be called for a part of
// the vocabulary.

// Adds the logits of one more token.
void FoldLogits(const SparseSpec& spec, absl::Span<const float> logits,
                absl::Span<float> weights);

// Ends the pooling, once the logits of all tokens have been added.
void FinishWeights(const SparseSpec& spec, absl::Span<float> weights);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_SPARSE_H_
