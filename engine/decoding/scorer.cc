#include "engine/decoding/scorer.h"

#include <utility>

#include "engine/tensor/check.h"

namespace attend {

Scorer::Scorer(std::vector<int> target, int top_log_probs)
    : target_(std::move(target)), token_log_probs_(top_log_probs) {
  output_.choices.resize(1);
  ChoiceOutput& choice = output_.choices[0];
  choice.tokens.reserve(target_.size());
  choice.log_probs.reserve(target_.size());
  choice.top.reserve(target_.size() * top_log_probs);
}

LogitsNeed Scorer::need() const {
  return {.top = token_log_probs_.top(),
          .tie_margin = 0,
          .log_sum_exp = true,
          .row = true};
}

void Scorer::Advance(absl::Span<const LogitsView> logits) {
  ATTEND_CHECK(static_cast<int>(logits.size()) <= remaining());
  ChoiceOutput& choice = output_.choices[0];
  for (const LogitsView& row : logits) {
    const int id = target_[choice.tokens.size()];
    token_log_probs_.Set(row, row.LogSumExp());
    token_log_probs_.AppendTo(id, choice.log_probs, choice.top);
    choice.tokens.push_back(id);
    choice.score += choice.log_probs.back();
  }
  output_.finished = remaining() == 0;
}

}  // namespace attend
