#ifndef ATTEND_ENGINE_TRANSFORMER_VALIDATE_DISTANCES_H_
#define ATTEND_ENGINE_TRANSFORMER_VALIDATE_DISTANCES_H_

#include <string>

#include "absl/status/status.h"
#include "engine/transformer/spec.h"

namespace attend {

// Check what a stack knows of distances between tokens, for
// TransformerSpec::Validate(). `at` is the path of the field.

absl::Status CheckBias(const std::string& at, const RelativeBiasSpec& bias,
                       bool causal);
// Checks StackSpec::stored_frequencies of the stack `name`.
absl::Status CheckStoredFrequencies(const std::string& name,
                                    const StackSpec& stack);
// Checks the convolution of a stack.
absl::Status CheckConvolution(const std::string& at, const StackSpec& stack,
                              int hidden);
absl::Status CheckDistances(const std::string& at, const DistanceSpec& spec);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_VALIDATE_DISTANCES_H_
