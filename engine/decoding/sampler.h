#ifndef ATTEND_ENGINE_DECODING_SAMPLER_H_
#define ATTEND_ENGINE_DECODING_SAMPLER_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/api/generation_params.h"
#include "engine/decoding/processed_row.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// Temperature, top-k, top-p and min-p in the order of transformers, then a
// draw. Keeps exactly the tokens that transformers keeps: all tokens that tie
// with the k-th one; of tokens that tie at the border of top-p, those with
// higher ids. Not thread-safe. Nothing is allocated after construction.
class Sampler {
 public:
  Sampler(const GenerationParams& params, int vocab);

  // The n with which Restrict() calls ProcessedRow::Best(). 0: Restrict() calls
  // CopyAll() instead. Restrict() calls both if the last token of Best() ties
  // with the top_k()-th.
  static int BestAsked(const GenerationParams& params, int vocab);
  int best() const { return best_; }
  int top_k() const { return top_k_; }

  // Finds the tokens that may follow, and their probabilities.
  void Restrict(ProcessedRow& row);

  // The token at which the cumulated probability passes `uniform`, a number in
  // [0, 1).
  int Draw(double uniform) const;

  // The tokens that Restrict() kept, as {id, probability}. Their order depends
  // on the processed row alone.
  absl::Span<const TokenScore> probabilities() const { return kept_; }

 private:
  void KeepTopK(ProcessedRow& row);
  void KeepTopP();
  void KeepMinP();
  // Replaces scores by probabilities.
  void Softmax();

  const float temperature_;
  const int top_k_;  // 0: off
  const int best_;
  const float top_p_;
  const float min_p_;
  std::vector<TokenScore> kept_;  // up to [vocab]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_SAMPLER_H_
