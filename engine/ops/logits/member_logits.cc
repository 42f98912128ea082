#include "engine/ops/logits/member_logits.h"

namespace attend {

MemberLogits::MemberLogits(const Size& size)
    : size_(size),
      ranks_(static_cast<size_t>(size.members) * size.max_rows * size.max_top),
      lists_(static_cast<size_t>(size.members) * size.max_rows),
      sums_(static_cast<size_t>((size.vocab + kLogitsTile - 1) / kLogitsTile) *
            size.max_rows) {}

void MemberLogits::Begin(int member, int row, int top) {
  const size_t at = static_cast<size_t>(member) * size_.max_rows + row;
  lists_[at] = TopList(ranks_.data() + at * size_.max_top, top);
}

}  // namespace attend
