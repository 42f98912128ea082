#include "engine/decoding/hypothesis.h"

namespace attend {

Hypothesis EmptyHypothesis(const GenerationParams& params) {
  Hypothesis hypothesis;
  const size_t max_new = params.max_new_tokens;
  hypothesis.tokens.reserve(1 + params.forced_prefix.size() + max_new);
  hypothesis.tokens.push_back(params.decoder_start_id);
  hypothesis.tokens.insert(hypothesis.tokens.end(),
                           params.forced_prefix.begin(),
                           params.forced_prefix.end());
  if (params.log_probs || params.top_log_probs > 0) {
    hypothesis.log_probs.reserve(max_new);
  }
  hypothesis.top.reserve(max_new * params.top_log_probs);
  return hypothesis;
}

}  // namespace attend
