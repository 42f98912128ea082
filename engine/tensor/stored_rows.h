#ifndef ATTEND_ENGINE_TENSOR_STORED_ROWS_H_
#define ATTEND_ENGINE_TENSOR_STORED_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/storage_type.h"

namespace attend {

// Owns rows in the data type of the file. A row is converted to floats when it
// is looked up.
class StoredRows final : public RowSource {
 public:
  StoredRows() = default;  // none
  // Zeros, to be written through row(). A row is a whole number of blocks.
  StoredRows(StorageType type, int rows, int cols);
  // A copy in f32.
  explicit StoredRows(ConstMatrix matrix);

  int rows() const override { return rows_; }
  int cols() const override { return cols_; }
  void Read(int first, Matrix dst) const override;
  // Adds row `index` to dst [cols()].
  void AddTo(int index, absl::Span<float> dst) const;

  uint8_t* row(int index) { return bytes_.data() + index * row_bytes(); }

 private:
  size_t row_bytes() const { return BytesOf(type_, cols_); }

  StorageType type_ = StorageType::kF32;
  int rows_ = 0;
  int cols_ = 0;
  Buffer<uint8_t> bytes_;  // [rows, cols]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_STORED_ROWS_H_
