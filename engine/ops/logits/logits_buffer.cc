#include "engine/ops/logits/logits_buffer.h"

namespace attend {

LogitsBuffer::LogitsBuffer(int max_rows, int vocab, int members)
    : vocab_(vocab),
      rows_(std::make_unique_for_overwrite<float[]>(
          static_cast<size_t>(max_rows) * vocab)),
      tops_(static_cast<size_t>(max_rows) * kMaxTop),
      entries_(max_rows),
      member_logits_({.max_rows = max_rows,
                      .vocab = vocab,
                      .members = members,
                      .max_top = kMaxTop}) {}

LogitsView LogitsBuffer::view(int row) const {
  const Entry& entry = entries_[row];
  const TokenScore* const top = tops_.data() + row * kMaxTop;
  const float* const logits = rows_.get() + static_cast<size_t>(row) * vocab_;
  return LogitsView(
      {.vocab = vocab_,
       .top = {top, static_cast<size_t>(entry.top)},
       .allowed = entry.allowed,
       .log_sum_exp = entry.log_sum_exp,
       .row = {logits, static_cast<size_t>(entry.row ? vocab_ : 0)}});
}

}  // namespace attend
