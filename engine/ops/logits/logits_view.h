#ifndef ATTEND_ENGINE_OPS_LOGITS_LOGITS_VIEW_H_
#define ATTEND_ENGINE_OPS_LOGITS_LOGITS_VIEW_H_

#include <optional>

#include "absl/types/span.h"

namespace attend {

// Order of tokens everywhere: higher score first, then lower id; NaN counts as
// the lowest score.
struct TokenScore {
  int id = 0;
  float score = 0;
};

// What will be asked of one row of logits. The rest need not be computed.
struct LogitsNeed {
  // The best tokens; at most the vocabulary.
  int top = 0;
  // How many of them, from the last one backwards, are there only to see where
  // equal scores end. If the one before them still ties with the last (within
  // a few roundings), the row is computed as well.
  int tie_margin = 0;
  bool log_sum_exp = false;
  // All of the row.
  bool row = false;
};

// Whether the row is needed, given the `need.top` best tokens.
bool NeedsRow(const LogitsNeed& need, absl::Span<const TokenScore> top);

// What a search may ask of one row of raw logits: of the whole row, or of what
// was kept of it as the vocabulary projection passed over it. The answers are
// the same to the bit. A view; valid as long as what it looks at.
class LogitsView {
 public:
  // What is known of a row that need not exist.
  struct Parts {
    int vocab = 0;
    absl::Span<const TokenScore> top;  // best first
    std::optional<float> log_sum_exp;
    absl::Span<const float> row;  // [vocab], or empty
  };

  explicit LogitsView(absl::Span<const float> row)
      : parts_{.vocab = static_cast<int>(row.size()),
               .top = {},
               .log_sum_exp = std::nullopt,
               .row = row} {}
  explicit LogitsView(const Parts& parts) : parts_(parts) {}

  int vocab() const { return parts_.vocab; }
  // log(sum(exp(logit))), with maxima subtracted first. Without a row it must
  // have been asked for, as in all of the below.
  float LogSumExp() const;
  // Fills `out` with the best out.size() tokens, best first; out.size() must
  // not be above vocab().
  void Top(absl::Span<TokenScore> out) const;
  // Without a row: of the tokens of Top().
  float At(int id) const;
  absl::Span<const float> Row() const;

 private:
  Parts parts_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_LOGITS_VIEW_H_
