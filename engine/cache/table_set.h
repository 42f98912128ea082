#ifndef ATTEND_ENGINE_CACHE_TABLE_SET_H_
#define ATTEND_ENGINE_CACHE_TABLE_SET_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"

namespace attend {

// The tables of a request's hypotheses, which share blocks at the same places
// only. A reorder makes new tables share from their parents and clears the old
// ones, so that a parent with one child is not copied at its next append. After
// Attach() nothing allocates memory. Used by its pool's thread only.
class TableSet {
 public:
  TableSet(int tables, int max_tokens, int block_tokens);
  // See BlockTable::Attach().
  void Attach(BlockPool& pool);

  BlockTable& operator[](int index) { return tables_[index]; }
  const BlockTable& operator[](int index) const { return tables_[index]; }

  // Blocks that a token more of each of the first `rows` tables takes.
  int BlocksToAppendOne(int rows) const;
  // Blocks that nobody else holds.
  int own_blocks() const;

  // Table i continues what table parents[i] holds; those behind are cleared.
  void Reorder(absl::Span<const int> parents);
  void Clear();

 private:
  int OwnBlocksAt(int index) const;

  std::vector<BlockTable> tables_;  // [tables]
  std::vector<BlockTable> spare_;   // [tables], empty but in Reorder()
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_TABLE_SET_H_
