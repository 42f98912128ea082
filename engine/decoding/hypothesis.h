#ifndef ATTEND_ENGINE_DECODING_HYPOTHESIS_H_
#define ATTEND_ENGINE_DECODING_HYPOTHESIS_H_

#include <vector>

#include "engine/api/generation_params.h"
#include "engine/api/output.h"

namespace attend {

// One beam, running or finished. Vectors are reserved for the longest result,
// so that one can be copied over another without allocation.
struct Hypothesis {
  std::vector<int> tokens;  // start, prefix, new
  std::vector<float> log_probs;
  std::vector<TokenLogProb> top;
  // Running: sum of log-probabilities. Finished: normalised by length.
  float score = 0;
  FinishReason finish = FinishReason::kNone;
};

// What transformers adds to the score of a beam that must not be chosen.
inline constexpr float kDeadBeam = -1e9f;

// Start and prefix, with room for the rest.
Hypothesis EmptyHypothesis(const GenerationParams& params);

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_HYPOTHESIS_H_
