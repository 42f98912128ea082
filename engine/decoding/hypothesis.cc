#include "engine/decoding/hypothesis.h"

namespace attend {

Hypothesis EmptyHypothesis(const SearchInput& input) {
  const GenerationParams& params = input.params;
  Hypothesis hypothesis;
  const size_t max_new = params.max_new_tokens;
  hypothesis.tokens.reserve(input.prompt.size() + max_new);
  hypothesis.tokens.assign(input.prompt.begin(), input.prompt.end());
  if (params.log_probs || params.top_log_probs > 0) {
    hypothesis.log_probs.reserve(max_new);
  }
  hypothesis.top.reserve(max_new * params.top_log_probs);
  return hypothesis;
}

}  // namespace attend
