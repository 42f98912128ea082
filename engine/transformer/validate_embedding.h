#ifndef ATTEND_ENGINE_TRANSFORMER_VALIDATE_EMBEDDING_H_
#define ATTEND_ENGINE_TRANSFORMER_VALIDATE_EMBEDDING_H_

#include <string>

#include "absl/status/status.h"
#include "engine/transformer/spec.h"

namespace attend {

// A part of TransformerSpec::Validate(): each field of the embedding of a stack
// is computed, or refused here. `at` is the path of the embedding; `hidden` is
// the width of the model.
absl::Status CheckEmbedding(const std::string& at, const EmbeddingSpec& spec,
                            int hidden);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_VALIDATE_EMBEDDING_H_
