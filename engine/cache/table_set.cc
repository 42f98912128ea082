#include "engine/cache/table_set.h"

#include <algorithm>
#include <cstddef>

namespace attend {

TableSet::TableSet(int tables, int max_tokens, int block_tokens) {
  for (int i = 0; i < tables; ++i) {
    tables_.emplace_back(max_tokens, block_tokens);
    spare_.emplace_back(max_tokens, block_tokens);
  }
}

void TableSet::Attach(BlockPool& pool) {
  for (BlockTable& table : tables_) table.Attach(pool);
  for (BlockTable& table : spare_) table.Attach(pool);
}

int TableSet::BlocksToAppendOne(int rows) const {
  int blocks = 0;
  for (int i = 0; i < rows; ++i) {
    blocks += tables_[i].BlocksToAppend(1);
    // The last table to append to a shared, partly filled last block keeps that
    // block and takes no new one: one block less, subtracted at the first of
    // these tables.
    if (!tables_[i].TailIsShared()) continue;
    const std::byte* tail = tables_[i].blocks().back();
    const auto shares_tail = [&](const BlockTable& table) {
      return !table.blocks().empty() && table.blocks().back() == tail;
    };
    if (std::none_of(tables_.begin(), tables_.begin() + i, shares_tail)) {
      --blocks;
    }
  }
  return blocks;
}

int TableSet::own_blocks() const {
  size_t most = 0;
  for (const BlockTable& table : tables_) {
    most = std::max(most, table.blocks().size());
  }
  int blocks = 0;
  for (size_t i = 0; i < most; ++i) blocks += OwnBlocksAt(static_cast<int>(i));
  return blocks;
}

int TableSet::OwnBlocksAt(int index) const {
  const auto block_of = [&](const BlockTable& table) -> const std::byte* {
    const absl::Span<std::byte* const> blocks = table.blocks();
    return index < static_cast<int>(blocks.size()) ? blocks[index] : nullptr;
  };
  int own = 0;
  for (auto table = tables_.begin(); table != tables_.end(); ++table) {
    const std::byte* const block = block_of(*table);
    if (block == nullptr) continue;
    const auto holds = [&](const BlockTable& other) {
      return block_of(other) == block;
    };
    if (std::any_of(tables_.begin(), table, holds)) continue;  // was counted
    const auto holders = std::count_if(table, tables_.end(), holds);
    if (table->references(index) == holders) ++own;
  }
  return own;
}

void TableSet::Reorder(absl::Span<const int> parents) {
  const int rows = static_cast<int>(parents.size());
  bool same = true;
  for (int i = 0; i < rows; ++i) same = same && parents[i] == i;
  if (!same) {
    for (int i = 0; i < rows; ++i) spare_[i].ShareFrom(tables_[parents[i]]);
    tables_.swap(spare_);
    for (BlockTable& table : spare_) table.Clear();
  }
  for (size_t i = rows; i < tables_.size(); ++i) tables_[i].Clear();
}

void TableSet::Clear() {
  for (BlockTable& table : tables_) table.Clear();
}

}  // namespace attend
