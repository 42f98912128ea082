#ifndef ATTEND_ENGINE_DECODING_VALIDATE_PARAMS_H_
#define ATTEND_ENGINE_DECODING_VALIDATE_PARAMS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/api/generation_params.h"

namespace attend {

// What a model and a server allow.
struct DecodingLimits {
  int vocab = 0;              // target vocabulary: width of the logits
  int max_target_tokens = 0;  // prompt + new tokens
  int max_beams = 0;          // beams, or samples of one request
};

// Within generation_limits.h, and what the model allows besides.
// INVALID_ARGUMENT names the first field that cannot be served, its value and
// its limit. Whatever passes is safe to give to MakeSearch().
// The results follow `known` decoder tokens (a prompt, or the decoder start),
// then the forced prefix.
absl::Status ValidateParams(const GenerationParams& params, int known,
                            const DecodingLimits& limits);

// The same for a target whose log-probabilities are wanted (see Scorer) after
// `known` decoder tokens.
absl::Status ValidateTarget(absl::Span<const int> target, int top_log_probs,
                            int known, const DecodingLimits& limits);

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_VALIDATE_PARAMS_H_
