#ifndef ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_
#define ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_

#include "engine/tensor/matrix.h"

namespace attend {

// A matrix that is read a few rows at a time, from a file, from a table in
// memory, or from packed weights, in any type of numbers. So only the rows at
// hand need memory as f32. Const; any thread may read.
class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual int rows() const = 0;
  virtual int cols() const = 0;
  // dst [n, cols()] = rows [first, first + n), which must exist.
  virtual void Read(int first, Matrix dst) const = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_ROW_SOURCE_H_
