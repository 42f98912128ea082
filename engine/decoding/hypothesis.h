#ifndef ATTEND_ENGINE_DECODING_HYPOTHESIS_H_
#define ATTEND_ENGINE_DECODING_HYPOTHESIS_H_

#include <vector>

#include "engine/api/output.h"
#include "engine/decoding/search_input.h"

namespace attend {

// One beam, running or finished. The vectors are reserved for the longest
// result, so that a hypothesis can be copied over another one without
// allocation.
struct Hypothesis {
  std::vector<int> tokens;  // prompt, new
  std::vector<float> log_probs;
  std::vector<TokenLogProb> top;
  // Running: the sum of log-probabilities. Finished: that sum normalised by
  // length.
  float score = 0;
  FinishReason finish = FinishReason::kNone;
};

// What transformers adds to the score of a beam that must not be chosen.
inline constexpr float kDeadBeam = -1e9f;

// A hypothesis that holds the prompt, with room for new tokens.
Hypothesis EmptyHypothesis(const SearchInput& input);

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_HYPOTHESIS_H_
