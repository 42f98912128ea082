#include "engine/checkpoint/slot_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/tensor/check.h"
#include "engine/tensor/quantized_block.h"

namespace attend {

SlotRows::SlotRows(const TensorSource& source, TensorView view,
                   const TensorSlices& slices, int rows, int cols)
    : source_(source),
      view_(std::move(view)),
      slices_(slices),
      rows_(rows),
      cols_(cols) {
  ATTEND_CHECK(rows % (slices.taken * slices.groups) == 0);
  if (view_.bytes.empty()) return;
  const size_t count =
      static_cast<size_t>(rows) / slices.taken * slices.total * cols;
  ATTEND_CHECK(view_.rows == nullptr
                   ? view_.bytes.size() == BytesOf(view_.type, count)
                   : view_.count() == count && !slices.transposed);
}

SlotRows::~SlotRows() { source_.Drop(view_.bytes); }

SlotRows::Run SlotRows::RunAt(int row) const {
  const int slice_rows = rows_ / (slices_.taken * slices_.groups);
  const int group_rows = slice_rows * slices_.taken;
  const int64_t group = row / group_rows;
  const int within = row % group_rows;
  const int64_t first =
      (group * slices_.total + slices_.first) * slice_rows + within;
  if (slices_.interleaved == 0) return {first, group_rows - within};
  const int half = slices_.interleaved / 2;
  const int64_t i = first % (slices_.interleaved_of > 0 ? slices_.interleaved_of
                                                        : slices_.interleaved);
  if (i >= slices_.interleaved) return {.first = first, .count = 1};
  return {.first = first - i + i % half * 2 + i / half, .count = 1};
}

const uint8_t* SlotRows::At(int64_t row, int col) const {
  const size_t tensor_rows =
      static_cast<size_t>(rows_) / slices_.taken * slices_.total;
  const size_t at = slices_.transposed ? col * tensor_rows + row
                                       : static_cast<size_t>(row) * cols_ + col;
  return view_.bytes.data() + BytesOf(view_.type, at);
}

void SlotRows::Read(int first, Matrix dst) const {
  if (view_.bytes.empty()) {
    std::fill_n(dst.data, static_cast<size_t>(dst.rows) * cols_, 0.0f);
    return;
  }
  ReadInOrder(first, dst);
  OrderColumns(dst);
}

void SlotRows::OrderColumns(Matrix rows) const {
  const int size = slices_.interleaved_columns;
  if (size == 0) return;
  const int half = size / 2;
  std::vector<float> group(size);
  for (int r = 0; r < rows.rows; ++r) {
    for (int begin = 0; begin < cols_; begin += size) {
      float* const at = rows.row(r) + begin;
      std::copy_n(at, size, group.begin());
      for (int i = 0; i < size; ++i) at[i] = group[i % half * 2 + i / half];
    }
  }
}

void SlotRows::ReadInOrder(int first, Matrix dst) const {
  for (int done = 0; done < dst.rows;) {
    Run run = RunAt(first + done);
    run.count = std::min(run.count, dst.rows - done);
    if (view_.rows != nullptr) {
      view_.rows->Read(static_cast<int>(run.first),
                       {dst.row(done), run.count, cols_});
      done += run.count;
      continue;
    }
    if (!slices_.transposed) {
      ToFloats(view_.type, At(run.first, 0),
               {dst.row(done), static_cast<size_t>(run.count) * cols_});
      done += run.count;
      continue;
    }
    // Reads a few rows at a time, column by column.
    float column[64];
    run.count = std::min(run.count, 64);
    for (int col = 0; col < cols_; ++col) {
      ToFloats(view_.type, At(run.first, col),
               {column, static_cast<size_t>(run.count)});
      for (int r = 0; r < run.count; ++r) dst.row(done + r)[col] = column[r];
    }
    done += run.count;
  }
}

bool SlotRows::ReadFourBits(int row, absl::Span<FourBitGroup> dst) const {
  const int groups = FourBitGroupsOf(view_.type);
  if (view_.bytes.empty() || slices_.interleaved_columns > 0) return false;
  const int64_t from = RunAt(row).first;
  if (view_.rows != nullptr) {
    return view_.rows->ReadFourBits(static_cast<int>(from), dst);
  }
  if (groups == 0) return false;
  const uint8_t* block = At(from, 0);
  for (size_t i = 0; i < dst.size(); i += groups) {
    if (!attend::ReadFourBits(view_.type, block, &dst[i])) return false;
    block += BlockOf(view_.type).bytes;
  }
  return true;
}

StoredRows SlotRows::Copy() const {
  ATTEND_CHECK(slices_.interleaved_columns == 0);
  StoredRows copy(view_.type, rows_, cols_);
  if (view_.bytes.empty()) return copy;
  if (view_.rows != nullptr) {
    for (int row = 0; row < rows_; ++row) {
      Read(row, {reinterpret_cast<float*>(copy.row(row)), 1, cols_});
    }
    return copy;
  }
  const size_t bytes = BytesOf(view_.type, slices_.transposed ? 1 : cols_);
  for (int row = 0; row < rows_; ++row) {
    const int64_t from = RunAt(row).first;
    if (!slices_.transposed) {
      std::memcpy(copy.row(row), At(from, 0), bytes);
      continue;
    }
    for (int col = 0; col < cols_; ++col) {
      std::memcpy(copy.row(row) + col * bytes, At(from, col), bytes);
    }
  }
  return copy;
}

}  // namespace attend
