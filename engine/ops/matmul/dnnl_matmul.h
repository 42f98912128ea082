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

// Weights as oneDNN's matmuls read them. Functions here throw dnnl::error, for
// matmul.cc to catch.
namespace attend {

// N-slices begin at multiples of this: the columns of one packed block.
inline constexpr int kBlockColumns = 64;

// INTERNAL: the matmuls by `weights` [n, k] could not be made.
absl::Status CreationError(ComputeType dtype, const RowSource& weights,
                           const dnnl::error& error);
// What `status` of oneDNN says of a multiplication: INTERNAL, or OK.
absl::Status RunStatus(int status, int rows, int k, int n);

// Columns [begin, begin + columns) of a weight matrix [k, n], and what
// multiplies them: primitives or, for packed f32, our own kernel, which takes
// 0.6 to 1 times as long as theirs.
struct DnnlSlice {
  int begin = 0;
  int columns = 0;
  const DnnlShape* shape = nullptr;  // null: our own kernel
  dnnl::memory weights;
  int k = 0;
  int padded_k = 0;

  // Of dense rows to dense rows, as DnnlShape::Run().
  dnnl_status_t Multiply(DnnlMember& member, int rows, const void* src,
                         void* dst) const;
};

// A weight matrix in the layout that matmuls read: blocks of 64 columns one
// after the other, or, where oneDNN has no packed kernel (2.6: f32 on AVX2 and
// less, bf16 without bf16 instructions), the rows of the checkpoint. In both
// the columns [begin, end) lie together, so that one copy serves the whole and
// its slices.
//
// Numbers are rounded as an Operand's are; int8 has a scale for each column.
// Read() gives them back: column c of the weights is row c.
class DnnlWeights final : public RowSource {
 public:
  // `weights` is [n, k], and read in pieces of kBlockColumns rows, once. Load
  // time only.
  DnnlWeights(Primitives& primitives, ComputeType dtype,
              const RowSource& weights);

  int rows() const override { return n_; }
  int cols() const override { return k_; }
  void Read(int first, Matrix dst) const override;

  // Columns [begin, end) for up to max_rows rows. Valid while this and the
  // primitives live; `begin` is a multiple of kBlockColumns. Load time only.
  DnnlSlice Slice(Primitives& primitives, int begin, int end, int max_rows);

  // How results in columns from `begin` on become floats, for rows of `src`
  // from `row` on; nothing to do but for int8.
  Dequantize dequantize(int begin, const Operand& src, int row) const;

 private:
  // What one member packs with: the columns of a block as floats, and as the
  // dtype has them.
  struct Piece {
    Buffer<float> floats;      // [columns, k]
    Buffer<uint32_t> rounded;  // [columns, units]
  };
  void Pack(Compute& compute, const RowSource& weights);
  // The block whose columns begin at `begin`.
  void PackBlock(const EpilogueKernels& kernels, const RowSource& weights,
                 int begin, Piece& piece);
  // A column of the checkpoint as the dtype.
  void Round(const EpilogueKernels& kernels, const float* src, int column,
             void* dst);
  // Four bytes each: one f32, two bf16 or four int8 of a column.
  int units() const { return (k_ * BytesOf(dtype_) + 3) / 4; }
  // Of the primitives for `columns` of the columns.
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
