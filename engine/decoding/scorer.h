#ifndef ATTEND_ENGINE_DECODING_SCORER_H_
#define ATTEND_ENGINE_DECODING_SCORER_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/api/output.h"
#include "engine/decoding/token_log_probs.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// Computes the log-probabilities of a given target from the logits at its
// positions. The logits may come over several steps, any number at a time. No
// logits processor applies. The output is one choice: its `score` is the sum of
// the log-probabilities, and its `finish` stays kNone, because nothing was
// generated. Not thread-safe. Advance() allocates nothing.
class Scorer {
 public:
  // `target` and `top_log_probs` must have passed ValidateTarget().
  Scorer(std::vector<int> target, int top_log_probs);

  // What Advance() will ask of each row.
  LogitsNeed need() const;
  // Takes the raw logits that predict the next logits.size() target tokens. The
  // first target token is predicted by the logits at the decoder start.
  void Advance(absl::Span<const LogitsView> logits);

  // The number of target tokens that have no log-probability yet.
  int remaining() const {
    return static_cast<int>(target_.size() - output_.choices[0].tokens.size());
  }
  // All target tokens. The decoder rows to compute are those of the decoder
  // start and of all target tokens but the last.
  absl::Span<const int> target() const { return target_; }
  const SequenceOutput& output() const { return output_; }
  // Adds the alignment of the target to the output.
  void SetAlignment(std::vector<float> alignment) {
    output_.choices[0].alignment = std::move(alignment);
  }
  // Moves the one choice out. To be called once, when remaining() is 0; the
  // Scorer is of no use afterwards.
  ChoiceOutput TakeChoice() { return std::move(output_.choices[0]); }

 private:
  const std::vector<int> target_;
  TokenLogProbs token_log_probs_;
  SequenceOutput output_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_SCORER_H_
