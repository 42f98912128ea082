#include "engine/tensor/stored_rows.h"

#include <cstring>

namespace attend {

StoredRows::StoredRows(StorageType type, int rows, int cols)
    : type_(type), rows_(rows), cols_(cols), bytes_(rows * row_bytes()) {}

StoredRows::StoredRows(ConstMatrix matrix)
    : StoredRows(StorageType::kF32, matrix.rows, matrix.cols) {
  if (bytes_.size() == 0) return;
  std::memcpy(bytes_.data(), matrix.data, bytes_.size());
}

void StoredRows::Read(int first, Matrix dst) const {
  ToFloats(type_, bytes_.data() + first * row_bytes(),
           {dst.data, static_cast<size_t>(dst.rows) * cols_});
}

void StoredRows::AddTo(int index, absl::Span<float> dst) const {
  AddFloats(type_, bytes_.data() + index * row_bytes(), dst);
}

}  // namespace attend
