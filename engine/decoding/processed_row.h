#ifndef ATTEND_ENGINE_DECODING_PROCESSED_ROW_H_
#define ATTEND_ENGINE_DECODING_PROCESSED_ROW_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/decoding/logits_processors.h"
#include "engine/decoding/search_input.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// One row of logits after the logits processors. Asks the row for the n best
// tokens and one more for each edit, and applies the edits to that short list.
// The whole row is read only by CopyAll(), and for renormalize_logits if the
// edited tokens hold most of the probability. Not thread-safe. Nothing is
// allocated after construction.
class ProcessedRow {
 public:
  // `max_best`: the largest `n` that Best() will be asked for.
  ProcessedRow(const SearchInput& input, int max_best);

  // What this class will ask of the row that follows `tokens`, if the caller
  // calls Best() with at most `n` and does not call CopyAll(). `normalize`: see
  // Set().
  LogitsNeed Need(absl::Span<const int> tokens, int n, bool normalize);
  // Whether the processors change anything in that row.
  bool edited() const {
    return processors_.forced() >= 0 || !processors_.edits().empty();
  }

  // Sets the row: raw logits that follow `tokens` (prompt, new), less
  // `log_sum_exp` (0: the raw logits themselves). `logits` must stay valid
  // until the next Set(). `normalize`: apply renormalize_logits if the request
  // asks for it; `log_sum_exp` must then be that of the row.
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
  // The processed score before it is renormalized. A banned token needs no
  // score of its own.
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
