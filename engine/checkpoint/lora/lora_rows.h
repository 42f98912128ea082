#ifndef ATTEND_ENGINE_CHECKPOINT_LORA_LORA_ROWS_H_
#define ATTEND_ENGINE_CHECKPOINT_LORA_LORA_ROWS_H_

#include <memory>

#include "engine/checkpoint/tensor_source.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

namespace attend {

// The low-rank product by which an adapter changes a matrix: left [rows, rank]
// times right [rank, cols], the factor within left.
struct LoraProduct {
  Buffer<float> left;
  Buffer<float> right;
  int rank = 0;
};

// The rows of a matrix with a product added. Const; any thread may read.
class LoraRows final : public RowSource {
 public:
  // `base` is [rows, cols], or with `turned` [cols, rows], without `rows`; its
  // source must outlive this.
  LoraRows(TensorView base, bool turned,
           std::shared_ptr<const LoraProduct> product);

  int rows() const override;
  int cols() const override;
  void Read(int first, Matrix dst) const override;

 private:
  void ReadBase(int row, float* dst) const;

  const TensorView base_;
  const bool turned_;
  const std::shared_ptr<const LoraProduct> product_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_LORA_LORA_ROWS_H_
