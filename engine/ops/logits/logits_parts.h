#ifndef ATTEND_ENGINE_OPS_LOGITS_LOGITS_PARTS_H_
#define ATTEND_ENGINE_OPS_LOGITS_LOGITS_PARTS_H_

#include <cstddef>
#include <vector>

#include "engine/ops/logits/logits_kernel.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/tensor/buffer.h"

namespace attend {

// What the members of a team found in the tiles of logits that they got, for
// all to read once they have met. Each writes its own lists, and the sums of
// its tiles.
class LogitsParts {
 public:
  struct Size {
    int max_rows = 0;
    int vocab = 0;
    int members = 0;
    int max_top = 0;  // tokens of a list
  };
  explicit LogitsParts(const Size& size);

  int members() const { return size_.members; }

  // Empties a member's list of a row, for the best `top` tokens.
  void Begin(int member, int row, int top);
  TopList& list(int member, int row) {
    return lists_[static_cast<size_t>(member) * size_.max_rows + row];
  }
  TileSum& sum(int tile, int row) {
    return sums_[static_cast<size_t>(tile) * size_.max_rows + row];
  }

 private:
  Size size_;
  Buffer<TokenScore> tokens_;   // [members, max_rows, max_top]
  std::vector<TopList> lists_;  // [members, max_rows]
  Buffer<TileSum> sums_;        // [tiles, max_rows]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_LOGITS_LOGITS_PARTS_H_
