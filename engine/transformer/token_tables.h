#ifndef ATTEND_ENGINE_TRANSFORMER_TOKEN_TABLES_H_
#define ATTEND_ENGINE_TRANSFORMER_TOKEN_TABLES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/tensor/row_source.h"

namespace attend {

// Loads the tables in which stacks look tokens up. A table that several stacks
// and the vocabulary projection share is in memory once. For loading only; the
// tables may outlive this object.
class TokenTables {
 public:
  // `weights` must outlive this object.
  explicit TokenTables(Weights& weights) : weights_(weights) {}

  // `packed` are the weights of `slot` as a matmul has them: Load() returns
  // them for this slot's tensor. They are rounded to the matmul's dtype, as the
  // logits have them anyway, and as a model is that was rounded as a whole.
  void Share(const std::string& slot, std::shared_ptr<const RowSource> packed);
  // The table of a slot, [vocab, width]: a known table of the same tensor, or
  // else a copy of the stored numbers. Errors: see Weights::Rows().
  absl::StatusOr<std::shared_ptr<const RowSource>> Load(const std::string& slot,
                                                        int vocab, int width);

 private:
  Weights& weights_;
  // By slot.
  std::vector<std::pair<std::string, std::shared_ptr<const RowSource>>> tables_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_TOKEN_TABLES_H_
