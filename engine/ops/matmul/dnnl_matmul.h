#ifndef ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_
#define ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "absl/status/status.h"
#include "engine/compute/compute.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/dnnl_primitives.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

// Weights as oneDNN's matmuls read them. Functions here throw dnnl::error;
// MatMul and Projection catch it.
namespace attend {

// Columns of one packed block. Slices begin at multiples of this.
inline constexpr int kBlockColumns = 64;

// INTERNAL: the matmuls by `weights` [n, k] could not be made.
absl::Status CreationError(ComputeType dtype, const RowSource& weights,
                           const dnnl::error& error);
// OK, or INTERNAL if `status` is an error of oneDNN.
absl::Status RunStatus(int status, int rows, int k, int n);

// Columns [begin, begin + columns) of a weight matrix [k, n], and what computes
// products with these columns: oneDNN's primitives or, for packed f32 with
// AVX-512, a kernel of our own, which takes 0.6 to 1 times as long as oneDNN's.
struct DnnlSlice {
  int begin = 0;
  int columns = 0;
  const DnnlShape* shape = nullptr;  // null: our own kernel
  dnnl::memory weights;
  int k = 0;
  int padded_k = 0;

  // dst [rows, columns] = src [rows, k] * weights, both dense. See
  // DnnlShape::Run().
  dnnl_status_t Multiply(DnnlMember& member, int rows, const void* src,
                         void* dst) const;
};

// A weight matrix in the layout that matmuls read. Packed: blocks of 64
// columns, one after the other. Where oneDNN has no packed kernel (version 2.6:
// f32 on AVX2 and less, bf16 without bf16 instructions): the rows of the
// checkpoint. In both layouts the columns [begin, end) lie together, so that
// one copy serves the whole matrix and all slices.
//
// Numbers are rounded as in an Operand; int8 has a scale a column. Read() gives
// the rounded numbers: row c is column c of the weights.
class DnnlWeights final : public RowSource {
 public:
  // `weights` is [n, k], and read once, kBlockColumns rows at a time. Load
  // time only.
  DnnlWeights(Primitives& primitives, ComputeType dtype,
              const RowSource& weights);

  int rows() const override { return n_; }
  int cols() const override { return k_; }
  void Read(int first, Matrix dst) const override;

  // Columns [begin, end), for products with up to max_rows rows. `begin` is a
  // multiple of kBlockColumns. Valid while the weights and `primitives` exist.
  // Load time only.
  DnnlSlice Slice(Primitives& primitives, int begin, int end, int max_rows);

  // How products become floats, in the columns from `begin` on, of the rows of
  // `src` from `row` on. Only int8 products need this.
  Dequantize dequantize(int begin, const Operand& src, int row) const;

 private:
  // Memory for one member to pack with: the columns of a block as floats, and
  // rounded to the dtype.
  struct PackBuffer {
    Buffer<float> floats;      // [columns, k]
    Buffer<uint32_t> rounded;  // [columns, units]
  };
  void Pack(Compute& compute, const RowSource& weights);
  // Packs the block whose columns begin at `begin`.
  void PackBlock(const EpilogueKernels& kernels, const RowSource& weights,
                 int begin, PackBuffer& buffer);
  // Rounds a column of the weights to the dtype.
  void Round(const EpilogueKernels& kernels, const float* src, int column,
             void* dst);
  // Units of a column; a unit is four bytes: one f32, two bf16 or four int8.
  int units() const { return (k_ * BytesOf(dtype_) + 3) / 4; }
  // The key of the primitives for `columns` columns.
  DnnlKey Key(int columns) const {
    return {.dtype = dtype_, .packed = packed_, .k = k_, .n = columns};
  }

  dnnl::engine engine_;
  ComputeType dtype_;
  int k_;
  int n_;
  bool packed_;
  bool own_kernel_;
  size_t column_bytes_ = 0;
  Buffer<char> data_;
  // See Dequantize; [n], int8 only.
  Buffer<float> column_scales_;
  Buffer<float> column_sums_;
  Buffer<int32_t> shift_sums_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_
