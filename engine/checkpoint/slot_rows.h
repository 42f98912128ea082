#ifndef ATTEND_ENGINE_CHECKPOINT_SLOT_ROWS_H_
#define ATTEND_ENGINE_CHECKPOINT_SLOT_ROWS_H_

#include <cstdint>

#include "engine/checkpoint/tensor_source.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/stored_rows.h"

namespace attend {

// Which rows of a tensor a slot has.
struct TensorPart {
  // The tensor is [columns, rows].
  bool transposed = false;
  // Where a tensor holds several slots: it is `groups` times `parts` parts of
  // equal numbers of rows, and the slot has `span` of each group, from `first`
  // on.
  int first = 0;
  int span = 1;
  int parts = 1;
  int groups = 1;

  bool operator==(const TensorPart&) const = default;
};

// The rows of a slot, where the source has them. What was read of the file
// leaves memory when this goes. Const; any thread may read.
class SlotRows final : public RowSource {
 public:
  // `view` holds rows * cols numbers times part.parts / part.span, or no bytes:
  // then the slot's are zeros. `source` is the view's and must outlive this.
  SlotRows(const TensorSource& source, TensorView view, const TensorPart& part,
           int rows, int cols);
  ~SlotRows() override;
  SlotRows(const SlotRows&) = delete;
  SlotRows& operator=(const SlotRows&) = delete;

  StorageType type() const { return view_.type; }
  int rows() const override { return rows_; }
  int cols() const override { return cols_; }
  void Read(int first, Matrix dst) const override;
  // All of them, as they are stored.
  StoredRows Copy() const;

 private:
  // Rows that follow each other in the tensor, `count` of them.
  struct Run {
    int64_t first = 0;
    int count = 0;
  };
  // Of the slot's rows from `row` on.
  Run RunAt(int row) const;
  // Where the tensor has a number of its row `row`.
  const uint8_t* At(int64_t row, int col) const;

  const TensorSource& source_;
  const TensorView view_;
  const TensorPart part_;
  const int rows_;
  const int cols_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_SLOT_ROWS_H_
