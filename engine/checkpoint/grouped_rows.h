#ifndef ATTEND_ENGINE_CHECKPOINT_GROUPED_ROWS_H_
#define ATTEND_ENGINE_CHECKPOINT_GROUPED_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/tensor/four_bit_group.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/storage_type.h"

namespace attend {

// A matrix of whole numbers from 0 to 2^bits - 1, in words of 32 bits,
// little-endian, each with 32 / bits numbers of a row or of a column. Does not
// own the words.
struct PackedInts {
  int At(int row, int col) const;

  absl::Span<const uint8_t> bytes;  // at any alignment
  int bits = 4;                     // 2, 4 or 8
  bool of_row = true;               // else a word has numbers of a column
  // From a word to the next one down the rows, and along the columns, in words.
  size_t row_stride = 0;
  size_t col_stride = 1;
  // At which of the word's places, from the lowest bits up, its numbers are.
  // Nullopt: in order.
  std::optional<std::array<uint8_t, 8>> places = std::nullopt;
  uint32_t added = 0;  // to each word, modulo 2^32
};

// Where a matrix [rows, cols] is stored as
//   number[r, c] = scale[r, g] * (stored[r, c] - zero[r, g])
// with the group g of column c. Does not own bytes.
struct GroupedMatrix {
  int rows = 0;
  int cols = 0;
  PackedInts stored;  // [rows, cols]
  StorageType scale_type = StorageType::kF16;
  absl::Span<const uint8_t> scales = {};  // [rows, groups]
  size_t scale_row_stride = 0;            // in numbers
  size_t scale_group_stride = 1;
  std::optional<PackedInts> zeros = {};  // [rows, groups]
  int zero = 0;                          // where `zeros` is nullopt
  std::vector<int> group_of = {};        // [cols]
};

// Reads the rows of such a matrix. Const; any thread may read.
class GroupedRows final : public RowSource {
 public:
  // All parts have the bytes that the shapes need, and all products are finite.
  explicit GroupedRows(GroupedMatrix matrix);

  int rows() const override { return matrix_.rows; }
  int cols() const override { return matrix_.cols; }
  void Read(int first, Matrix dst) const override;
  // False, too, if inputs next to each other are of several groups, or a scale
  // is beyond f16. The products of a zero and its scale are rounded to f16: by
  // less than 1/128 of the scale, and not at all if the zero is a power of two
  // and the scale f16.
  bool ReadFourBits(int row, absl::Span<FourBitGroup> dst) const override;

 private:
  static constexpr int kMaxRows = 64;
  // At most kMaxRows rows.
  void ReadSome(int first, Matrix dst) const;
  float Scale(int row, int group) const;
  int Zero(int row, int group) const;
  // Whether columns [begin, end) are of one group.
  bool AreOneGroup(int begin, int end) const;

  const GroupedMatrix matrix_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GROUPED_ROWS_H_
