#ifndef ATTEND_ENGINE_OPS_LOGITS_LOGITS_VIEW_H_
#define ATTEND_ENGINE_OPS_LOGITS_LOGITS_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace attend {

// A token with a score. Everywhere tokens are ordered by score, the highest
// first; equal scores by id, the lowest first. NaN counts as the lowest score.
struct TokenScore {
  int id = 0;
  float score = 0;
};

// What will be asked about one row of logits. Nothing else is computed.
struct LogitsNeed {
  // The number of best tokens, at most the vocabulary.
  int top = 0;
  // If not null: the best tokens are those of the ids whose bits are set: bit
  // id % 32 of word id / 32. There may be fewer than `top`. [vocab / 32,
  // rounded up]; must stay as it is while the row is computed and looked at.
  const uint32_t* allowed = nullptr;
  // If not empty, ascending: only these ids have logits, and all others have
  // -inf, as if the vocabulary were the list. `allowed` is null then. Must stay
  // as it is while the row is computed.
  absl::Span<const int> listed = {};
  // The last `tie_margin` of the best tokens are there only to show where equal
  // scores end. If the token before these ties with the last token (within a
  // few roundings), the whole row is computed as well.
  int tie_margin = 0;
  bool log_sum_exp = false;
  // The whole row.
  bool row = false;
};

// Whether the whole row is needed, given its `need.top` best tokens.
bool NeedsRow(const LogitsNeed& need, absl::Span<const TokenScore> top);

// Answers about one row of raw logits, from the whole row, or from the facts
// that the vocabulary projection kept of it. Both give the same bits. A view:
// valid as long as the memory that it looks at.
class LogitsView {
 public:
  // The facts that are known of a row.
  struct Known {
    int vocab = 0;
    absl::Span<const TokenScore> top;   // best first
    const uint32_t* allowed = nullptr;  // of `top`, see LogitsNeed
    std::optional<float> log_sum_exp;
    absl::Span<const float> row;  // [vocab]; empty: the row was not kept
  };

  explicit LogitsView(absl::Span<const float> row)
      : known_{.vocab = static_cast<int>(row.size()),
               .top = {},
               .allowed = nullptr,
               .log_sum_exp = std::nullopt,
               .row = row} {}
  explicit LogitsView(const Known& known) : known_(known) {}

  int vocab() const { return known_.vocab; }
  // False if what is known of the row is not finite, as it is if the hidden
  // state behind the row was not. Logits are, as a model means them.
  bool finite() const;
  // If the row was not kept, the functions below may be asked only for what its
  // LogitsNeed had.

  // log(sum(exp(logit))); a maximum is subtracted before each exp.
  float LogSumExp() const;
  // Fills `out` with the out.size() <= vocab() best tokens, best first.
  void Top(absl::Span<TokenScore> out) const;
  // The same for the best of the allowed tokens (see LogitsNeed), of which
  // there may be fewer; returns how many there are.
  size_t TopAllowed(const uint32_t* allowed, absl::Span<TokenScore> out) const;
  // The logit of a token; if the row was not kept, of one of the best tokens.
  float At(int id) const;
  // The row must have been kept.
  absl::Span<const float> Row() const;

 private:
  Known known_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_LOGITS_VIEW_H_
