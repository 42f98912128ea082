#ifndef ATTEND_ENGINE_OPS_LOGITS_LOGITS_BUFFER_H_
#define ATTEND_ENGINE_OPS_LOGITS_LOGITS_BUFFER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/ops/logits/logits_parts.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/tensor/buffer.h"

namespace attend {

// What a Projection found out about up to `max_rows` rows of logits. One
// worker's, reused by every step. The rows themselves have room but are touched
// only where they are asked for.
class LogitsBuffer {
 public:
  // The longest list that is kept of a row; who wants more gets the row.
  static constexpr int kMaxTop = 128;

  // For a team of up to so many members.
  LogitsBuffer(int max_rows, int vocab, int members);

  int max_rows() const { return static_cast<int>(entries_.size()); }
  int vocab() const { return vocab_; }
  // Answers about row `row` of the last Run(); valid until the next one.
  LogitsView view(int row) const;

  // For the projection: room for a row's answers, and which of them there are.
  absl::Span<float> row(int row) {
    return {rows_.get() + static_cast<size_t>(row) * vocab_,
            static_cast<size_t>(vocab_)};
  }
  TokenScore* top(int row) { return tops_.data() + row * kMaxTop; }
  struct Entry {
    int top = 0;
    std::optional<float> log_sum_exp;
    bool row = false;
  };
  Entry& entry(int row) { return entries_[row]; }
  LogitsParts& parts() { return parts_; }

 private:
  int vocab_;
  // [max_rows, vocab]; takes memory where it is written.
  std::unique_ptr<float[]> rows_;
  Buffer<TokenScore> tops_;  // [max_rows, kMaxTop], best first
  std::vector<Entry> entries_;
  LogitsParts parts_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_LOGITS_BUFFER_H_
