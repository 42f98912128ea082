#ifndef ATTEND_ENGINE_CHECKPOINT_SLOT_ROWS_H_
#define ATTEND_ENGINE_CHECKPOINT_SLOT_ROWS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/stored_rows.h"

namespace attend {

// Which rows of a tensor a slot has. The tensor's rows are `groups` groups of
// `total` equal slices; the slot has slices [first, first + taken) of each
// group. By default the slot has the whole tensor.
struct TensorSlices {
  // The tensor is this many matrices, one below the other or in a dimension of
  // their own, and the fields below are of number `matrix`.
  int matrices = 1;
  int matrix = 0;
  // The tensor is stored as [columns, rows].
  bool transposed = false;
  int first = 0;
  int taken = 1;
  int total = 1;
  int groups = 1;
  // The tensor's rows are groups of this many, an even number, in each of which
  // rows i and i + interleaved / 2 of the slot stand together; 0: the order is
  // the slot's. (llama.cpp stores queries and keys of Llama so.)
  int interleaved = 0;
  // Only the first `interleaved` of that many rows are such a group; 0: all
  // rows are.
  int interleaved_of = 0;
  // The same of the tensor's columns, all of them; not of slots that are
  // copied.
  int interleaved_columns = 0;

  bool operator==(const TensorSlices&) const = default;
};

// The rows of a slot, read from the source when they are needed. The destructor
// lets the bytes of the file leave memory. Const; any thread may read.
class SlotRows final : public RowSource {
 public:
  // The slot is [rows, cols]. `view` holds
  // rows * cols * slices.total / slices.taken numbers, or no bytes: then the
  // slot's numbers are zeros. Where it has `rows`, or blocks of numbers, slices
  // are not transposed, and a row is whole blocks. `view` is of `source`, which
  // must outlive this.
  SlotRows(const TensorSource& source, TensorView view,
           const TensorSlices& slices, int rows, int cols);
  ~SlotRows() override;
  SlotRows(const SlotRows&) = delete;
  SlotRows& operator=(const SlotRows&) = delete;

  StorageType type() const { return view_.type; }
  int rows() const override { return rows_; }
  int cols() const override { return cols_; }
  void Read(int first, Matrix dst) const override;
  bool ReadFourBits(int row, absl::Span<FourBitGroup> dst) const override;
  // A copy of all rows, in the type of the view.
  StoredRows Copy() const;

 private:
  // Rows [first, first + count) of the tensor.
  struct Run {
    int64_t first = 0;
    int count = 0;
  };
  // Reads rows with their columns in the order of the tensor.
  void ReadInOrder(int first, Matrix dst) const;
  // Brings the columns of rows into the order of the slot.
  void OrderColumns(Matrix rows) const;
  // Where the slot's rows from `row` on are in the tensor, as far as they
  // follow each other there.
  Run RunAt(int row) const;
  // The bytes of the number in row `row` of the tensor, column `col`.
  const uint8_t* At(int64_t row, int col) const;

  const TensorSource& source_;
  const TensorView view_;
  const TensorSlices slices_;
  const int rows_;
  const int cols_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_SLOT_ROWS_H_
