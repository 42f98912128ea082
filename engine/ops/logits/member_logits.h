#ifndef ATTEND_ENGINE_OPS_LOGITS_MEMBER_LOGITS_H_
#define ATTEND_ENGINE_OPS_LOGITS_MEMBER_LOGITS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/ops/logits/logits_kernel.h"
#include "engine/ops/logits/top_list.h"
#include "engine/tensor/buffer.h"

namespace attend {

// What each member of a team found in its tiles of logits: a list of best
// tokens a row, and a sum a tile and row. Each member writes its own lists and
// the sums of its own tiles. All members may read everything after they have
// met.
class MemberLogits {
 public:
  struct Size {
    int max_rows = 0;
    int vocab = 0;
    int members = 0;
    int max_top = 0;  // tokens of a list
  };
  explicit MemberLogits(const Size& size);

  int members() const { return size_.members; }

  // Begins a member's list for a row: empty, for the best `top` tokens.
  void Begin(int member, int row, int top);
  TopList& list(int member, int row) {
    return lists_[static_cast<size_t>(member) * size_.max_rows + row];
  }
  TileSum& sum(int tile, int row) {
    return sums_[static_cast<size_t>(tile) * size_.max_rows + row];
  }

 private:
  Size size_;
  Buffer<uint64_t> ranks_;      // [members, max_rows, max_top]
  std::vector<TopList> lists_;  // [members, max_rows]
  Buffer<TileSum> sums_;        // [tiles, max_rows]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_MEMBER_LOGITS_H_
