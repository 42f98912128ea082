#ifndef ATTEND_ENGINE_CACHE_TABLE_SET_H_
#define ATTEND_ENGINE_CACHE_TABLE_SET_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"

namespace attend {

// The block tables of a request's hypotheses. Two tables share a block only at
// the same index. A reorder makes new tables share the blocks of their parents
// and clears the old tables, so that the last block of a parent with one child
// is not copied at the next append. After Attach() no method allocates memory.
// Used by the pool's thread only.
class TableSet {
 public:
  TableSet(int tables, int max_tokens, int block_tokens);
  // See BlockTable::Attach().
  void Attach(BlockPool& pool);

  BlockTable& operator[](int index) { return tables_[index]; }
  const BlockTable& operator[](int index) const { return tables_[index]; }

  // Free blocks that one more token in each of the first `rows` tables takes.
  int BlocksToAppendOne(int rows) const;
  // The number of blocks that only tables of this set hold.
  int own_blocks() const;

  // Table i continues the tokens of the table that was at parents[i]; tables
  // from parents.size() on are cleared.
  void Reorder(absl::Span<const int> parents);
  void Clear();

 private:
  int OwnBlocksAt(int index) const;

  std::vector<BlockTable> tables_;  // [tables]
  std::vector<BlockTable> spare_;   // [tables], empty but in Reorder()
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CACHE_TABLE_SET_H_
