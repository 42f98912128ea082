#include "engine/transformer/token_tables.h"

#include <utility>

#include "engine/tensor/status_macros.h"
#include "engine/tensor/stored_rows.h"

namespace attend {

void TokenTables::Share(const std::string& slot,
                        std::shared_ptr<const RowSource> packed) {
  tables_.emplace_back(slot, std::move(packed));
}

absl::StatusOr<std::shared_ptr<const RowSource>> TokenTables::Load(
    const std::string& slot, int vocab, int width) {
  ASSIGN_OR_RETURN(const auto rows, weights_.Rows(slot, {vocab, width}));
  for (const auto& [known, table] : tables_) {
    if (weights_.AreSame(slot, known)) return table;
  }
  tables_.emplace_back(slot, std::make_shared<const StoredRows>(rows->Copy()));
  return tables_.back().second;
}

}  // namespace attend
