#ifndef ATTEND_ENGINE_DECODING_SCORER_H_
#define ATTEND_ENGINE_DECODING_SCORER_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/api/output.h"
#include "engine/decoding/token_log_probs.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// Log-probabilities of a given target, computed from the logits at its
// positions, which come in pieces of any size. No processor applies. The output
// is one choice, whose `score` is the sum and whose `finish` stays kNone:
// nothing was generated. Not thread-safe; Advance() allocates nothing.
class Scorer {
 public:
  // `target` and `top_log_probs` must have passed ValidateTarget().
  Scorer(std::vector<int> target, int top_log_probs);

  // What Advance() will ask of each row.
  LogitsNeed need() const;
  // Takes the raw logits that predict the next logits.size() target tokens: the
  // first ever are those at the decoder start.
  void Advance(absl::Span<const LogitsView> logits);

  // Target tokens without a log-probability yet.
  int remaining() const {
    return static_cast<int>(target_.size() - output_.choices[0].tokens.size());
  }
  // The decoder tokens to compute are the decoder start, then the target but
  // for its last token.
  absl::Span<const int> target() const { return target_; }
  const SequenceOutput& output() const { return output_; }
  // Moves the one choice out, when nothing remains; then this is of no use.
  ChoiceOutput TakeChoice() { return std::move(output_.choices[0]); }

 private:
  const std::vector<int> target_;
  TokenLogProbs token_log_probs_;
  SequenceOutput output_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_SCORER_H_
