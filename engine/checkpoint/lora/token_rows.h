#ifndef ATTEND_ENGINE_CHECKPOINT_LORA_TOKEN_ROWS_H_
#define ATTEND_ENGINE_CHECKPOINT_LORA_TOKEN_ROWS_H_

#include <map>
#include <memory>

#include "engine/checkpoint/tensor_source.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// The rows that an adapter has in place of those of a token table.
struct TrainedTokens {
  std::map<int, int> rows;  // the token's id to its row in `values`
  Buffer<float> values;     // [rows.size(), cols]
};

// The rows of a table [tokens, cols], some of them replaced. Const; any thread
// may read.
class TokenRows final : public RowSource {
 public:
  // `base` is row-major; its source must outlive this.
  TokenRows(TensorView base, std::shared_ptr<const TrainedTokens> trained);

  int rows() const override { return static_cast<int>(base_.shape[0]); }
  int cols() const override { return static_cast<int>(base_.shape[1]); }
  void Read(int first, Matrix dst) const override;

 private:
  const TensorView base_;
  const std::shared_ptr<const TrainedTokens> trained_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_LORA_TOKEN_ROWS_H_
