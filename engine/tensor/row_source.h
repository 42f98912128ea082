#ifndef ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_
#define ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_

#include "engine/tensor/matrix.h"

namespace attend {

// A matrix that is read some rows at a time, whatever its numbers are kept in
// and wherever they lie: in a file, in a table in memory, in packed weights.
// So no more than the rows at hand need exist as f32. Const; any thread may
// read.
class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual int rows() const = 0;
  virtual int cols() const = 0;
  // dst [n, cols()] = rows [first, first + n), of those that there are.
  virtual void Read(int first, Matrix dst) const = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_
