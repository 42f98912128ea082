#ifndef ATTEND_ENGINE_OPS_LOGITS_VIEW_H_
#define ATTEND_ENGINE_OPS_LOGITS_VIEW_H_

#include "absl/types/span.h"

namespace attend {

// Order of tokens everywhere: higher score first, then lower id.
struct TokenScore {
  int id = 0;
  float score = 0;
};

// What a sampler may ask of one row of raw logits. A view, so that the
// vocabulary projection may later answer without writing the row.
class LogitsView {
 public:
  explicit LogitsView(absl::Span<const float> row) : row_(row) {}

  int vocab() const { return static_cast<int>(row_.size()); }
  // log(sum(exp(logit))), with the maximum subtracted first.
  float LogSumExp() const;
  // Fills `out` with the best out.size() tokens, best first; out.size() must
  // not be above vocab(). NaN counts as the lowest.
  void Top(absl::Span<TokenScore> out) const;
  float At(int id) const { return row_[id]; }
  absl::Span<const float> Row() const { return row_; }

 private:
  absl::Span<const float> row_;  // [vocab]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_VIEW_H_
