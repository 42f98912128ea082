#ifndef ATTEND_ENGINE_DECODING_SAMPLER_H_
#define ATTEND_ENGINE_DECODING_SAMPLER_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/api/generation_params.h"
#include "engine/decoding/processed_row.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// Temperature, top-k, top-p and min-p in transformers' order, then a draw.
// What stays is exactly what transformers keeps: all ties of the k-th token; of
// tokens that tie at the border of top-p those with the higher id.
// Not thread-safe; after construction nothing is allocated.
class Sampler {
 public:
  Sampler(const GenerationParams& params, int vocab);

  // The n that Restrict() asks ProcessedRow::Best() for; 0: it calls CopyAll().
  // After Best() it calls that as well if the last one has the score of the
  // top_k()-th.
  static int BestAsked(const GenerationParams& params, int vocab);
  int best() const { return best_; }
  int top_k() const { return top_k_; }

  // Finds the tokens that may follow, and their probabilities.
  void Restrict(ProcessedRow& row);

  // The token at `uniform`, in [0, 1), of the cumulated probabilities.
  int Draw(double uniform) const;

  // What Restrict() kept: {id, probability}; the order is a function of the
  // processed row alone.
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
