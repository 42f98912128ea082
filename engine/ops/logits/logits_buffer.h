#ifndef ATTEND_ENGINE_OPS_LOGITS_LOGITS_BUFFER_H_
#define ATTEND_ENGINE_OPS_LOGITS_LOGITS_BUFFER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/ops/logits/member_logits.h"
#include "engine/tensor/buffer.h"

namespace attend {

// The answers of a Projection about up to `max_rows` rows of logits. Belongs to
// one worker; every step uses it again. There is address space for whole rows,
// which takes memory only where a whole row was asked for.
class LogitsBuffer {
 public:
  // The longest list of best tokens. For more tokens the whole row is kept.
  static constexpr int kMaxTop = TopList::kMaxTokens;

  // For teams of at most `members` members.
  LogitsBuffer(int max_rows, int vocab, int members);

  int max_rows() const { return static_cast<int>(entries_.size()); }
  int vocab() const { return vocab_; }
  // The answers about row `row` of the last Projection::Run(); valid until the
  // next Run().
  LogitsView view(int row) const;

  // The functions below are for Projection: room for the answers about a row,
  // and which answers there are.
  absl::Span<float> row(int row) {
    return {rows_.get() + static_cast<size_t>(row) * vocab_,
            static_cast<size_t>(vocab_)};
  }
  TokenScore* top(int row) { return tops_.data() + row * kMaxTop; }
  struct Entry {
    int top = 0;                        // tokens in top()
    const uint32_t* allowed = nullptr;  // of these, see LogitsNeed
    std::optional<float> log_sum_exp;
    bool row = false;  // whether row() holds the logits
  };
  Entry& entry(int row) { return entries_[row]; }
  MemberLogits& member_logits() { return member_logits_; }

 private:
  int vocab_;
  // [max_rows, vocab]; takes memory where it is written.
  std::unique_ptr<float[]> rows_;
  Buffer<TokenScore> tops_;  // [max_rows, kMaxTop], best first
  std::vector<Entry> entries_;
  MemberLogits member_logits_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_LOGITS_BUFFER_H_
