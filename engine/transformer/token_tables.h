#ifndef ATTEND_ENGINE_TRANSFORMER_TOKEN_TABLES_H_
#define ATTEND_ENGINE_TRANSFORMER_TOKEN_TABLES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/storage_type.h"

namespace attend {

// The tables that stacks look tokens up in. Stacks often share one with each
// other and with the vocabulary projection; then it is held once. For loading
// only; what it gave lives on.
class TokenTables {
 public:
  // `weights` must outlive this.
  explicit TokenTables(Weights& weights) : weights_(weights) {}

  // From now on the numbers of `slot` are looked up in `packed`, a matmul's
  // weights in `dtype`, if these are exactly what is stored.
  void Share(const std::string& slot, StorageType stored, ComputeType dtype,
             std::shared_ptr<const RowSource> packed);
  // The table of a slot [vocab, width]: one that is there already, else a copy
  // of what is stored. Errors as of Weights::Rows().
  absl::StatusOr<std::shared_ptr<const RowSource>> Load(const std::string& slot,
                                                        int vocab, int width);

 private:
  Weights& weights_;
  // By slot.
  std::vector<std::pair<std::string, std::shared_ptr<const RowSource>>> tables_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_TOKEN_TABLES_H_
