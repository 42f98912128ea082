#ifndef ATTEND_ENGINE_TENSOR_MATRIX_H_
#define ATTEND_ENGINE_TENSOR_MATRIX_H_

#include <cstddef>

namespace attend {

// A view of dense rows of f32: row r starts at data + r * cols. Does not own
// the memory.
struct Matrix {
  float* data = nullptr;  // [rows, cols]
  int rows = 0;
  int cols = 0;

  float* row(int r) const { return data + static_cast<size_t>(r) * cols; }
};

struct ConstMatrix {
  const float* data = nullptr;  // [rows, cols]
  int rows = 0;
  int cols = 0;

  ConstMatrix() = default;
  ConstMatrix(const float* d, int r, int c) : data(d), rows(r), cols(c) {}
  // A writable matrix can be read. NOLINTNEXTLINE(google-explicit-constructor)
  ConstMatrix(const Matrix& m) : data(m.data), rows(m.rows), cols(m.cols) {}

  const float* row(int r) const { return data + static_cast<size_t>(r) * cols; }
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_MATRIX_H_
