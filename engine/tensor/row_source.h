#ifndef ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_
#define ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_

#include "absl/types/span.h"
#include "engine/tensor/four_bit_group.h"
#include "engine/tensor/matrix.h"

namespace attend {

// A matrix that is read a few rows at a time from a file, a table in
// memory, or packed weights, of any dtype. Only the rows being read need memory
// as f32. Const; any thread may read.
class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual int rows() const = 0;
  virtual int cols() const = 0;
  // dst [n, cols()] = rows [first, first + n), which must exist.
  virtual void Read(int first, Matrix dst) const = 0;
  // Reads the groups of a row that is stored in 4 bits, in groups of
  // kGroupNumbers: unchanged codes, scales and minimums rounded to f16. Returns
  // false, with unspecified dst, if the row is stored otherwise.
  virtual bool ReadFourBits(int row, absl::Span<FourBitGroup> dst) const {
    static_cast<void>(row);
    static_cast<void>(dst);
    return false;
  }
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_
