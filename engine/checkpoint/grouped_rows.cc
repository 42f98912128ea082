#include "engine/checkpoint/grouped_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace attend {

int PackedInts::At(int row, int col) const {
  const int per_word = 32 / bits;
  const int along = of_row ? col : row;
  const size_t word_row = of_row ? row : row / per_word;
  const size_t word_col = of_row ? col / per_word : col;
  uint32_t word;
  std::memcpy(
      &word,
      &bytes[(word_row * row_stride + word_col * col_stride) * sizeof(word)],
      sizeof(word));
  const int i = along % per_word;
  const int place = places ? (*places)[i] : i;
  return static_cast<int>((word + added) >> (place * bits) &
                          ((1u << bits) - 1));
}

GroupedRows::GroupedRows(GroupedMatrix matrix) : matrix_(std::move(matrix)) {}

float GroupedRows::Scale(int row, int group) const {
  const size_t at =
      row * matrix_.scale_row_stride + group * matrix_.scale_group_stride;
  float scale;
  ToFloats(matrix_.scale_type, &matrix_.scales[BytesOf(matrix_.scale_type, at)],
           {&scale, 1});
  return scale;
}

void GroupedRows::Read(int first, Matrix dst) const {
  for (int begin = 0; begin < dst.rows; begin += kMaxRows) {
    ReadSome(first + begin,
             {dst.row(begin), std::min(kMaxRows, dst.rows - begin), dst.cols});
  }
}

// Column by column, since most layouts have the numbers of a column together.
void GroupedRows::ReadSome(int first, Matrix dst) const {
  float scales[kMaxRows];
  int zeros[kMaxRows];
  int group = -1;
  for (int col = 0; col < matrix_.cols; ++col) {
    if (matrix_.group_of[col] != group) {
      group = matrix_.group_of[col];
      for (int r = 0; r < dst.rows; ++r) {
        scales[r] = Scale(first + r, group);
        zeros[r] =
            matrix_.zeros ? matrix_.zeros->At(first + r, group) : matrix_.zero;
      }
    }
    for (int r = 0; r < dst.rows; ++r) {
      const int stored = matrix_.stored.At(first + r, col);
      dst.row(r)[col] = scales[r] * static_cast<float>(stored - zeros[r]);
    }
  }
}

}  // namespace attend
