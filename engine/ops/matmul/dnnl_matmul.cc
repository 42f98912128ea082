#include "engine/ops/matmul/dnnl_matmul.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/ops/matmul/f32_kernel.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

using dnnl::memory;

// Makes s8 of the u8 of an Operand, in place, and returns their sum.
int32_t Unshift(void* numbers, int count) {
  uint8_t* const bytes = static_cast<uint8_t*>(numbers);
  int32_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const int number = bytes[i] - 128;
    bytes[i] = static_cast<uint8_t>(number);
    sum += number;
  }
  return sum;
}

}  // namespace

absl::Status CreationError(ComputeType dtype, ConstMatrix weights,
                           const dnnl::error& error) {
  return absl::InternalError(absl::StrCat(
      "onednn matmul in ", TypeName(dtype), " with k = ", weights.cols,
      ", n = ", weights.rows, ": ", error.what()));
}

absl::Status RunStatus(int status, int rows, int k, int n) {
  if (status == dnnl_success) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("onednn matmul with k = ", k,
                                          ", n = ", n, ", rows = ", rows,
                                          ": status ", status));
}

dnnl_status_t DnnlSlice::Multiply(DnnlMember& member, int rows, const void* src,
                                  void* dst) const {
  if (shape != nullptr) return shape->Run(member, rows, src, weights, dst);
  static_assert(kTileRows <= kF32Rows && kBlockColumns == kF32BlockColumns);
  avx512::MultiplyF32(
      {.src = static_cast<const float*>(src),
       .weights = static_cast<const float*>(weights.get_data_handle()),
       .dst = static_cast<float*>(dst),
       .rows = rows,
       .k = k,
       .padded_k = padded_k,
       .n = columns});
  return dnnl_success;
}

DnnlWeights::DnnlWeights(Primitives& primitives, ComputeType dtype,
                         ConstMatrix weights)
    : engine_(primitives.dnnl().engine()),
      dtype_(dtype),
      k_(weights.cols),
      packed_(false),
      own_kernel_(false) {
  const int n = weights.rows;
  packed_ = HasPackedKernel(engine_, Key(n));
  own_kernel_ =
      packed_ && dtype == ComputeType::kF32 && primitives.isa() >= Isa::kAvx512;
  const Buffer<char> converted = Convert(primitives.compute(), weights);
  const void* rows = weights.data;
  if (dtype != ComputeType::kF32) rows = converted.data();
  const memory::desc desc = WeightsDesc(Key(n));
  const int columns =
      packed_ ? (n + kBlockColumns - 1) / kBlockColumns * kBlockColumns : n;
  column_bytes_ = desc.get_size() / columns;
  data_ = Buffer<char>(column_bytes_ * columns);
  if (!packed_) {
    std::memcpy(data_.data(), rows, data_.size());
    return;
  }
  memory from(WeightsDesc({.dtype = dtype, .packed = false, .k = k_, .n = n}),
              engine_, const_cast<void*>(rows));
  memory to(desc, engine_, data_.data());
  dnnl::stream stream(engine_);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

Buffer<char> DnnlWeights::Convert(Compute& compute, ConstMatrix weights) {
  if (dtype_ == ComputeType::kF32) return {};
  const size_t count = static_cast<size_t>(weights.rows) * k_;
  Buffer<char> rows(count * BytesOf(dtype_));
  Operand operand = {
      .dtype = dtype_, .data = rows.data(), .rows = weights.rows, .cols = k_};
  if (dtype_ == ComputeType::kInt8) {
    column_scales_ = Buffer<float>(weights.rows);
    operand.scales = column_scales_.data();
  }
  MakeOperand(compute, weights, operand);
  if (dtype_ == ComputeType::kInt8) {
    shift_sums_ = Buffer<int32_t>(weights.rows);
    column_sums_ = Buffer<float>(weights.rows);
    for (int column = 0; column < weights.rows; ++column) {
      const int32_t sum = Unshift(operand.row(column), k_);
      shift_sums_[column] = 128 * sum;
      column_sums_[column] = static_cast<float>(sum);
    }
  }
  return rows;
}

DnnlSlice DnnlWeights::Slice(Primitives& primitives, int begin, int end,
                             int max_rows) {
  ATTEND_CHECK(begin % kBlockColumns == 0);
  const DnnlKey key = Key(end - begin);
  return {
      .begin = begin,
      .columns = end - begin,
      .shape = own_kernel_ ? nullptr : &primitives.dnnl().Shape(key, max_rows),
      .weights = {WeightsDesc(key), engine_,
                  data_.data() + column_bytes_ * begin},
      .k = k_,
      .padded_k = static_cast<int>(column_bytes_ / BytesOf(dtype_))};
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
