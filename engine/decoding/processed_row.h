#ifndef ATTEND_ENGINE_DECODING_PROCESSED_ROW_H_
#define ATTEND_ENGINE_DECODING_PROCESSED_ROW_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/api/generation_params.h"
#include "engine/decoding/logits_processors.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// One row of logits after the processors. Asks the row for as many of its best
// tokens as there can be edits among them, and applies the edits to that short
// list; the row itself is read as a whole only by CopyAll(), and by
// renormalize_logits where the edits hold most of the probability.
// Not thread-safe; after construction nothing is allocated.
class ProcessedRow {
 public:
  // `max_best`: the largest `n` that Best() will be asked for.
  ProcessedRow(const GenerationParams& params, int vocab, int max_best);

  // What the row that follows `tokens` will be asked of, if Best() is asked for
  // up to `n` and CopyAll() not called. `normalize` as in Set().
  LogitsNeed Need(absl::Span<const int> tokens, int n, bool normalize);
  // Whether the processors do anything to that row.
  bool edited() const {
    return processors_.forced() >= 0 || !processors_.edits().empty();
  }

  // Processes raw logits less `log_sum_exp` (0: the raw logits themselves) that
  // follow `tokens` (start, prefix, new). `logits` must stay until the next
  // Set(). `normalize`: apply renormalize_logits, if the request asks for it;
  // then log_sum_exp must be that of the row.
  void Set(const LogitsView& logits, float log_sum_exp,
           absl::Span<const int> tokens, bool normalize);

  // The `n` best tokens by processed score, best first; at most vocab. NaN
  // counts as -inf. Valid until the next call.
  absl::Span<const TokenScore> Best(int n);

  // All tokens in order of id.
  void CopyAll(std::vector<TokenScore>& out) const;

 private:
  float LogNormalizer() const;
  void BestOfForced(int n);
  float Base(int id) const { return logits_.At(id) - log_sum_exp_; }
  // The processed score but for the normalizer. What is banned needs no score.
  float Edited(const TokenEdit& edit) const {
    return edit.banned ? processors_.Apply(edit, 0)
                       : processors_.Apply(edit, Base(edit.id));
  }

  const int vocab_;
  LogitsProcessors processors_;
  const bool renormalize_;
  LogitsView logits_{absl::Span<const float>()};
  float log_sum_exp_ = 0;
  float log_normalizer_ = 0;
  std::vector<TokenScore> top_;   // of the raw row
  std::vector<TokenScore> best_;  // processed
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_PROCESSED_ROW_H_
