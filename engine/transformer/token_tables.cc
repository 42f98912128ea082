#include "engine/transformer/token_tables.h"

#include "engine/tensor/status_macros.h"
#include "engine/tensor/stored_rows.h"

namespace attend {
namespace {

// Whether rows may be looked up in weights that are packed in `dtype`: these
// are the stored numbers or, in int8, so much smaller that their rounding,
// which the logits have anyway, is worth it.
bool MayStandFor(StorageType stored, ComputeType dtype) {
  switch (dtype) {
    case ComputeType::kF32:
      return true;
    case ComputeType::kBf16:
      return stored == StorageType::kBf16;
    case ComputeType::kInt8:
      return true;
  }
  return false;
}

}  // namespace

void TokenTables::Share(const std::string& slot, StorageType stored,
                        ComputeType dtype,
                        std::shared_ptr<const RowSource> packed) {
  if (MayStandFor(stored, dtype)) tables_.emplace_back(slot, std::move(packed));
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
