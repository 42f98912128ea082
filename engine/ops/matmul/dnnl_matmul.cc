#include "engine/ops/matmul/dnnl_matmul.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/compute/node_memory.h"
#include "engine/ops/matmul/group_weights.h"
#include "engine/ops/matmul/operand.h"
#include "engine/ops/matmul/weight_row.h"
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
                                  void* dst) const {
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
                         const RowSource& weights)
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
                      ? PackedBytes(dtype_, uint64_t{kGroupNumbers} * units())
                      : WeightsDesc(Key(n_)).get_size() / columns;
  data_ = Buffer<char>(column_bytes_ * columns);
  PlaceShares(primitives.compute().team(), data_.data(), column_bytes_, columns,
              kBlockColumns);
  if (dtype_ == ComputeType::kInt8) {
    column_scales_ = Buffer<float>(n_);
    column_sums_ = Buffer<float>(n_);
    shift_sums_ = Buffer<int32_t>(n_);
  }
  Pack(primitives.compute(), weights);
}

void DnnlWeights::Pack(Compute& compute, const RowSource& weights) {
  std::vector<PackBuffer> buffers(compute.packing_team().size());
  for (PackBuffer& buffer : buffers) {
    buffer.floats = Buffer<float>(size_t{kBlockColumns} * k_);
    buffer.rounded = Buffer<uint32_t>(size_t{kBlockColumns} * units());
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
  char* const block = data_.data() + column_bytes_ * begin;
  if (IsGrouped(dtype_)) {
    if (!PackGroups(dtype_, weights, begin, floats, block)) too_large_ = true;
    return;
  }
  weights.Read(begin, floats);
  if (!packed_) {
    for (int c = 0; c < columns; ++c) {
      Round(floats.row(c), begin + c, block + column_bytes_ * c);
    }
    return;
  }
  const size_t stride = units();
  uint32_t* const rounded = buffer.rounded.data();
  for (int c = 0; c < columns; ++c) {
    Round(floats.row(c), begin + c, rounded + c * stride);
  }
  // The i-th units of all columns lie side by side.
  uint32_t* const packed = reinterpret_cast<uint32_t*>(block);
  for (size_t unit = 0; unit < stride; ++unit) {
    for (int c = 0; c < columns; ++c) {
      packed[unit * kBlockColumns + c] = rounded[c * stride + unit];
    }
  }
}

void DnnlWeights::Round(const float* src, int column, void* dst) {
  const Int8Sums sums = RoundWeightRow(kernels_, dtype_, src, k_, dst);
  if (dtype_ != ComputeType::kInt8) return;
  column_scales_[column] = sums.scale;
  column_sums_[column] = sums.sum;
  shift_sums_[column] = sums.shift_sum;
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
    if (IsGrouped(dtype_)) {
      const int in_block = column % kBlockColumns;
      ReadGroups(dtype_, data_.data() + column_bytes_ * (column - in_block),
                 in_block, {dst.row(r), static_cast<size_t>(k_)});
      continue;
    }
    const int block = packed_ ? column / kBlockColumns * kBlockColumns : column;
    const char* const units =
        data_.data() + column_bytes_ * block + kUnitBytes * (column - block);
    const int stride = packed_ ? kUnitBytes * kBlockColumns : kUnitBytes;
    const absl::Span<float> row(dst.row(r), k_);
    switch (dtype_) {
      case ComputeType::kF32:
        ReadUnits<float>(units, stride, row);
        break;
      case ComputeType::kBf16:
        ReadUnits<Bf16>(units, stride, row);
        break;
      case ComputeType::kInt8:
        ReadUnits<int8_t>(units, stride, row);
        for (float& number : row) number *= column_scales_[column];
        kernels_.unspread(row.data(), k_);
        break;
      case ComputeType::kW8:
      case ComputeType::kInt4:
        break;
    }
  }
}

DnnlSlice DnnlWeights::Slice(Primitives& primitives, int begin, int end,
                             int max_rows) {
  ATTEND_CHECK(begin % kBlockColumns == 0);
  char* const columns = data_.data() + column_bytes_ * begin;
  DnnlSlice slice = {
      .begin = begin,
      .columns = end - begin,
      .kernel = kernel_,
      .args = {
          .weights = columns,
          .units = units(),
          .padded_units = IsGrouped(dtype_)
                              ? units()
                              : static_cast<int>(column_bytes_) / kUnitBytes,
          .n = end - begin}};
  if (kernel_ != nullptr) return slice;
  const DnnlKey key = Key(end - begin);
  slice.shape = &primitives.dnnl().Shape(key, max_rows);
  slice.weights = {WeightsDesc(key), engine_, columns};
  return slice;
}

Dequantize DnnlWeights::dequantize(int begin, const Operand& src,
                                   int row) const {
  if (dtype_ != ComputeType::kInt8) return {};
  return {.column_sums = column_sums_.data() + begin,
          .shift_sums = shift_sums_.data() + begin,
          .column_scales = column_scales_.data() + begin,
          .row_offsets = src.offsets + row,
          .row_scales = src.scales + row};
}

}  // namespace attend
