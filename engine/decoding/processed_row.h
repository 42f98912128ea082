#ifndef ATTEND_ENGINE_DECODING_PROCESSED_ROW_H_
#define ATTEND_ENGINE_DECODING_PROCESSED_ROW_H_

#include <cstddef>
#include <cstdint>
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

  // How a row is processed.
  struct Mode {
    // Apply renormalize_logits if the request asks for it.
    bool normalize = false;
    // If not null: only these tokens may follow, see LogitsNeed.
    const uint32_t* allowed = nullptr;
    // False: a token that is forced to end the sequence is not forced.
    bool can_end = true;
  };

  // What this class will ask of the row that follows `tokens`, if the caller
  // calls Best() with at most `n` and does not call CopyAll().
  LogitsNeed Need(absl::Span<const int> tokens, int n, const Mode& mode);
  // Whether the processors change anything in that row.
  bool edited() const {
    return processors_.forced() >= 0 || !processors_.edits().empty();
  }

  // Whether the processors may change anything in any row.
  bool may_edit() const { return processors_.may_edit(); }

  // Sets the row: raw logits that follow `tokens` (prompt, new), less
  // `log_sum_exp` (0: the raw logits themselves). `logits` must stay valid
  // until the next Set(). With mode.normalize, `log_sum_exp` must be that of
  // the row.
  void Set(const LogitsView& logits, float log_sum_exp,
           absl::Span<const int> tokens, const Mode& mode);

  // The `n` best tokens by processed score, best first; at most vocab. NaN
  // counts as -inf, and so do tokens that are not allowed. Valid until the next
  // call.
  absl::Span<const TokenScore> Best(int n);

  // The score of a token. The row must have been kept.
  float Of(int id) const;

  // All tokens in order of id.
  void CopyAll(std::vector<TokenScore>& out) const;

 private:
  float LogNormalizer() const;
  float LogNormalizerOfAllowed() const;
  void BestOfForced(int n);
  // The best `count` tokens of the raw row, without those that are not allowed.
  void FindTop(size_t count);
  // Adds tokens that are not allowed, so that there are `n`.
  void FillUp(int n);
  bool Allows(int id) const {
    return mode_.allowed == nullptr ||
           (mode_.allowed[id / 32] >> (id % 32) & 1) != 0;
  }
  float Base(int id) const { return logits_.At(id) - log_sum_exp_; }
  // The processed score before it is renormalized. A token that is banned or
  // not allowed needs no score of its own.
  float Edited(const TokenEdit& edit) const;

  const int vocab_;
  LogitsProcessors processors_;
  const bool renormalize_;
  LogitsView logits_{absl::Span<const float>()};
  float log_sum_exp_ = 0;
  Mode mode_;
  float log_normalizer_ = 0;
  std::vector<TokenScore> top_;   // of the raw row
  std::vector<TokenScore> best_;  // processed
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_PROCESSED_ROW_H_
