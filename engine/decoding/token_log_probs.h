#ifndef ATTEND_ENGINE_DECODING_TOKEN_LOG_PROBS_H_
#define ATTEND_ENGINE_DECODING_TOKEN_LOG_PROBS_H_

#include <vector>

#include "engine/api/output.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// The raw log-softmax of one row: of its most likely tokens, and of any token
// by id. Not thread-safe. Set() allocates nothing.
class TokenLogProbs {
 public:
  explicit TokenLogProbs(int top) : scratch_(top), top_(top) {}

  // The number of most likely tokens that Set() asks for.
  int top() const { return static_cast<int>(top_.size()); }

  // `log_sum_exp` is that of the row. `logits` must stay valid until the next
  // Set().
  void Set(const LogitsView& logits, float log_sum_exp) {
    logits_ = logits;
    log_sum_exp_ = log_sum_exp;
    if (scratch_.empty()) return;
    logits.Top(absl::MakeSpan(scratch_));
    for (size_t i = 0; i < top_.size(); ++i) {
      top_[i] = {scratch_[i].id, scratch_[i].score - log_sum_exp};
    }
  }

  float Of(int id) const { return logits_.At(id) - log_sum_exp_; }

  // Appends the log-probability of `id`, and the most likely tokens beside it.
  void AppendTo(int id, std::vector<float>& log_probs,
                std::vector<TokenLogProb>& top) const {
    log_probs.push_back(Of(id));
    top.insert(top.end(), top_.begin(), top_.end());
  }

 private:
  LogitsView logits_{absl::Span<const float>()};
  float log_sum_exp_ = 0;
  std::vector<TokenScore> scratch_;
  std::vector<TokenLogProb> top_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_TOKEN_LOG_PROBS_H_
