#include "engine/ops/matmul/dnnl_matmul.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/compute/node_memory.h"
#include "engine/ops/matmul/group_weights.h"
#include "engine/ops/matmul/int8_weights.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/check.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {
namespace {

struct Bf16 {
  uint16_t upper;
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(upper) << 16);
  }
};

// Reads the numbers of a column, whose units are `stride` bytes apart.
template <typename Number>
void ReadUnits(const char* units, int stride, absl::Span<float> dst) {
  constexpr size_t kNumbers = kUnitBytes / sizeof(Number);
  for (size_t i = 0; i < dst.size(); ++i) {
    Number number;
    std::memcpy(&number,
                units + i / kNumbers * stride + i % kNumbers * sizeof(Number),
                sizeof(Number));
    dst[i] = static_cast<float>(number);
  }
}

}  // namespace

absl::Status CreationError(ComputeType dtype, const RowSource& weights,
                           const dnnl::error& error) {
  return absl::InternalError(absl::StrCat(
      "onednn matmul in ", TypeName(dtype), " with k = ", weights.cols(),
      ", n = ", weights.rows(), ": ", error.what()));
}

absl::Status RunStatus(int status, int rows, int k, int n) {
  if (status == dnnl_success) return absl::OkStatus();
  if (status == dnnl_out_of_memory) return OutOfMemory();
  return absl::InternalError(absl::StrCat("onednn matmul with k = ", k,
                                          ", n = ", n, ", rows = ", rows,
                                          ": status ", status));
}

dnnl_status_t DnnlSlice::Multiply(DnnlMember& member, int rows, const void* src,
                                  float* dst) const {
  if (kernel == nullptr) return shape->Run(member, rows, src, weights, dst);
  static_assert(kTileRows <= kMultiplyRows);
  MultiplyArgs all = args;
  all.src = src;
  all.dst = dst;
  all.rows = rows;
  kernel(all);
  return dnnl_success;
}

DnnlWeights::DnnlWeights(Primitives& primitives, ComputeType dtype,
                         const RowSource& weights, Range precise)
    : engine_(primitives.dnnl().engine()),
      dtype_(dtype),
      k_(weights.cols()),
      n_(weights.rows()),
      kernels_(EpilogueKernelsFor(primitives.isa())),
      kernel_(MultiplyKernelFor(dtype, k_, primitives.isa())),
      packed_(kernel_ != nullptr) {
  if (!packed_) packed_ = HasPackedKernel(engine_, Key(n_));
  const int columns =
      packed_ ? (n_ + kBlockColumns - 1) / kBlockColumns * kBlockColumns : n_;
  column_bytes_ = IsGrouped(dtype_)
                      ? PackedBlockBytes(dtype_, k_) / kBlockColumns
                      : WeightsDesc(Key(n_)).get_size() / columns;
  if (dtype_ == ComputeType::kInt8 && precise.begin < precise.end) {
    precise_.begin = precise.begin / kBlockColumns * kBlockColumns;
    precise_.end =
        (precise.end + kBlockColumns - 1) / kBlockColumns * kBlockColumns;
  }
  const int planes = PlanesBefore(columns);
  data_ = primitives.weights().Allocate(column_bytes_ * planes);
  PlaceShares(primitives.compute().team(), data_.data(), column_bytes_, planes,
              kBlockColumns);
  Pack(primitives.compute(), weights);
}

void DnnlWeights::Pack(Compute& compute, const RowSource& weights) {
  const size_t row_units =
      (OperandBytes(dtype_, k_) + kUnitBytes - 1) / kUnitBytes;
  std::vector<PackBuffer> buffers(compute.packing_team().size());
  for (PackBuffer& buffer : buffers) {
    buffer.floats = Buffer<float>(size_t{kBlockColumns} * k_);
    buffer.rounded = Buffer<uint32_t>(kBlockColumns * row_units);
    buffer.column = Buffer<float>(k_);
  }
  std::atomic<int> next = 0;
  compute.packing_team().Run([&](int member) {
    for (int begin = next.fetch_add(kBlockColumns); begin < n_;
         begin = next.fetch_add(kBlockColumns)) {
      PackBlock(weights, begin, buffers[member]);
    }
  });
}

void DnnlWeights::PackBlock(const RowSource& weights, int begin,
                            PackBuffer& buffer) {
  const int columns = std::min(kBlockColumns, n_ - begin);
  const Matrix floats = {buffer.floats.data(), columns, k_};
  char* const block = data_.data() + PlaceOf(begin);
  if (dtype_ == ComputeType::kW8 || dtype_ == ComputeType::kInt4) {
    if (!PackGroups(dtype_, weights, begin, floats, block)) too_large_ = true;
    return;
  }
  weights.Read(begin, floats);
  if (dtype_ == ComputeType::kInt8) return PackInt8Block(floats, begin, buffer);
  // Rows, if they are not to be packed.
  const Operand rounded = {
      .dtype = dtype_,
      .data = packed_ ? buffer.rounded.data() : static_cast<void*>(block),
      .rows = columns,
      .cols = k_};
  kernels_.make_operand(floats.data, rounded, {0, columns}, {0, k_});
  if (!packed_) return;
  // The i-th units of all columns lie side by side. Behind the last number of a
  // column there are zeros.
  const size_t row_bytes = OperandBytes(dtype_, k_);
  for (size_t at = 0; at < row_bytes; at += kUnitBytes) {
    const size_t bytes = std::min<size_t>(kUnitBytes, row_bytes - at);
    for (int c = 0; c < columns; ++c) {
      std::memcpy(block + at * kBlockColumns + kUnitBytes * c,
                  static_cast<const char*>(rounded.row(c)) + at, bytes);
    }
  }
}

void DnnlWeights::PackInt8Block(Matrix columns, int begin, PackBuffer& buffer) {
  char* const block = data_.data() + PlaceOf(begin);
  void* const row = buffer.rounded.data();
  for (int c = 0; c < columns.rows; ++c) {
    float* const column = columns.row(c);
    kernels_.round_weights(column, k_, row);
    PackInt8(row, k_, c, block);
    if (PlanesOf(begin) == 1) continue;
    const absl::Span<float> rounded(buffer.column.data(), k_);
    ReadInt8(block, c, /*planes=*/1, rounded);
    for (int i = 0; i < k_; ++i) column[i] -= rounded[i];
    kernels_.round_weights(column, k_, row);
    PackInt8(row, k_, c, block + column_bytes_ * kBlockColumns);
  }
}

int DnnlWeights::units() const {
  if (dtype_ == ComputeType::kInt8) {
    return (k_ + Int8WeightGroup::kUnitNumbers - 1) /
           Int8WeightGroup::kUnitNumbers;
  }
  if (IsGrouped(dtype_)) return GroupsOf(dtype_, k_);
  return (k_ * BytesOf(dtype_) + kUnitBytes - 1) / kUnitBytes;
}

absl::Status DnnlWeights::CheckRange() const {
  if (!too_large_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("dtype is ", TypeName(dtype_),
                   ", whose numbers are at most 65504 (f16): a matrix of ", n_,
                   " rows and ", k_, " columns has a larger one"));
}

void DnnlWeights::Read(int first, Matrix dst) const {
  for (int r = 0; r < dst.rows; ++r) {
    const int column = first + r;
    const absl::Span<float> row(dst.row(r), k_);
    const int block = packed_ ? column / kBlockColumns * kBlockColumns : column;
    const char* const data = data_.data() + PlaceOf(block);
    const char* const units = data + kUnitBytes * (column - block);
    const int stride = packed_ ? kUnitBytes * kBlockColumns : kUnitBytes;
    switch (dtype_) {
      case ComputeType::kF32:
        ReadUnits<float>(units, stride, row);
        break;
      case ComputeType::kBf16:
        ReadUnits<Bf16>(units, stride, row);
        break;
      case ComputeType::kInt8:
        ReadInt8(data, column - block, PlanesOf(column), row);
        break;
      case ComputeType::kW8:
      case ComputeType::kInt4:
        ReadGroups(dtype_, data, column - block, row);
        break;
    }
  }
}

void DnnlWeights::ReadInt8(const char* block, int column, int planes,
                           absl::Span<float> dst) const {
  absl::c_fill(dst, 0.0f);
  for (int plane = 0; plane < planes; ++plane) {
    AddInt8(block + column_bytes_ * kBlockColumns * plane, column, dst);
  }
  kernels_.unspread(dst.data(), k_);
}

Range DnnlWeights::ShareOf(int member, int members) const {
  const Range planes = Share(PlanesBefore(n_), member, members, kBlockColumns);
  // The first column of the block that begins nearest to a plane.
  const auto block_at = [&](int plane) {
    constexpr int kPrecisePlanes = 2 * kBlockColumns;
    const int behind = std::clamp(plane - precise_.begin, 0,
                                  2 * (precise_.end - precise_.begin));
    const int precise_blocks = (behind + kBlockColumns) / kPrecisePlanes;
    const int last = (n_ - 1) / kBlockColumns * kBlockColumns;
    return std::min(last, plane - behind + precise_blocks * kBlockColumns);
  };
  return {block_at(planes.begin),
          member + 1 == members ? n_ : block_at(planes.end)};
}

DnnlSlice DnnlWeights::Slice(Primitives& primitives, int begin, int end,
                             int max_rows) {
  ATTEND_CHECK(begin % kBlockColumns == 0);
  char* const columns = data_.data() + PlaceOf(begin);
  DnnlSlice slice = {
      .begin = begin,
      .columns = end - begin,
      .kernel = kernel_,
      .args = {
          .weights = columns,
          .units = units(),
          .padded_units = IsGrouped(dtype_)
                              ? 0
                              : static_cast<int>(column_bytes_) / kUnitBytes,
          .n = end - begin,
          .precise = {std::max(0, precise_.begin - begin),
                      std::max(0, precise_.end - begin)}}};
  if (kernel_ != nullptr) return slice;
  const DnnlKey key = Key(end - begin);
  slice.shape = &primitives.dnnl().Shape(key, max_rows);
  slice.weights = {WeightsDesc(key), engine_, columns};
  return slice;
}

}  // namespace attend
