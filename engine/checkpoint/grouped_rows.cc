#include "engine/checkpoint/grouped_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/tensor/half.h"

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

int GroupedRows::Zero(int row, int group) const {
  return matrix_.zeros ? matrix_.zeros->At(row, group) : matrix_.zero;
}

bool GroupedRows::AreOneGroup(int begin, int end) const {
  const auto first = matrix_.group_of.begin();
  return std::all_of(first + begin, first + end, [&](int group) {
    return group == matrix_.group_of[begin];
  });
}

bool GroupedRows::ReadFourBits(int row, absl::Span<FourBitGroup> dst) const {
  if (matrix_.stored.bits != 4) return false;
  int begin = 0;
  for (FourBitGroup& to : dst) {
    const int end = std::min(begin + kGroupNumbers, matrix_.cols);
    if (!AreOneGroup(begin, end)) return false;
    const int group = matrix_.group_of[begin];
    const float scale = Scale(row, group);
    const auto zero = static_cast<float>(Zero(row, group));
    to = {.scale = FloatToHalf(scale), .min = FloatToHalf(-zero * scale)};
    if (!IsFiniteHalf(to.scale) || !IsFiniteHalf(to.min)) return false;
    for (int i = 0; begin < end; ++begin, ++i) {
      to.codes[i] = static_cast<uint8_t>(matrix_.stored.At(row, begin));
    }
  }
  return true;
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
        zeros[r] = Zero(first + r, group);
      }
    }
    for (int r = 0; r < dst.rows; ++r) {
      const int stored = matrix_.stored.At(first + r, col);
      dst.row(r)[col] = scales[r] * static_cast<float>(stored - zeros[r]);
    }
  }
}

}  // namespace attend
