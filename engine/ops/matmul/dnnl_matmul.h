#ifndef ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_
#define ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/dnnl_primitives.h"
#include "engine/ops/exec/primitives.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/ops/matmul/multiply_kernel.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/row_source.h"

// Weights as oneDNN's matmuls read them. Functions here throw dnnl::error;
// MatMul and Projection catch it.
namespace attend {

// INTERNAL: the matmuls by `weights` [n, k] could not be made.
absl::Status CreationError(ComputeType dtype, const RowSource& weights,
                           const dnnl::error& error);
// OK, or INTERNAL if `status` is an error of oneDNN.
absl::Status RunStatus(int status, int rows, int k, int n);

// Columns [begin, begin + columns) of a weight matrix [k, n], and what computes
// products with these columns: a kernel of our own, or else oneDNN.
struct DnnlSlice {
  int begin = 0;
  int columns = 0;
  MultiplyKernel kernel = nullptr;
  MultiplyArgs args = {};  // of the kernel, but for rows, src and dst
  // Without a kernel.
  const DnnlShape* shape = nullptr;
  dnnl::memory weights = {};

  // dst [rows, columns] = src [rows, k] * weights, both dense, for up to
  // kTileRows rows. See DnnlShape::Run().
  dnnl_status_t Multiply(DnnlMember& member, int rows, const void* src,
                         float* dst) const;
};

// A weight matrix in the layout that matmuls read. Packed: blocks of 64
// columns, one after the other. Where no kernel reads that (f32 without AVX2,
// and with oneDNN 2.6 bf16 without bf16 instructions): the rows of the
// checkpoint. In both layouts the columns [begin, end) lie together, so that
// one copy serves the whole matrix and all slices.
//
// Numbers are rounded as in an Operand, but for those of int8, w8 and int4,
// which are groups of weights (number_group.h). Read() gives the rounded
// numbers, unspread: row c is column c of the weights.
//
// In int8 columns may be precise: what a group loses by rounding is rounded to
// a second group of its own. A block of 64 columns has then two planes, the
// second one behind the first.
class DnnlWeights final : public RowSource {
 public:
  // `weights` is [n, k], and read once, kBlockColumns rows at a time. In int8
  // the columns of `precise` are precise, and those in the same blocks. Load
  // time only.
  DnnlWeights(Primitives& primitives, ComputeType dtype,
              const RowSource& weights, Range precise = {});

  int rows() const override { return n_; }
  int cols() const override { return k_; }
  void Read(int first, Matrix dst) const override;
  // INVALID_ARGUMENT if the numbers are too large for the dtype.
  absl::Status CheckRange() const;

  // One of `members` ranges of columns, of about equal bytes, in whole blocks.
  // Empty for some, if members are about as many as blocks.
  Range ShareOf(int member, int members) const;
  // Columns [begin, end), for products with up to max_rows rows. `begin` is a
  // multiple of kBlockColumns. Valid while the weights and `primitives` exist.
  // Load time only.
  DnnlSlice Slice(Primitives& primitives, int begin, int end, int max_rows);

 private:
  // Memory for one member to pack with: the columns of a block as floats, and
  // rounded to the dtype; what a precise column is rounded to at first.
  struct PackBuffer {
    Buffer<float> floats;      // [columns, k]
    Buffer<uint32_t> rounded;  // [columns, k], an Operand
    Buffer<float> column;      // [k]
  };
  void Pack(Compute& compute, const RowSource& weights);
  // Packs the block whose columns begin at `begin`.
  void PackBlock(const RowSource& weights, int begin, PackBuffer& buffer);
  // The same in int8, of `columns` [columns, k], which are overwritten.
  void PackInt8Block(Matrix columns, int begin, PackBuffer& buffer);
  // Reads a column of a packed block in int8, unspread.
  void ReadInt8(const char* block, int column, int planes,
                absl::Span<float> dst) const;
  int PlanesOf(int column) const {
    return precise_.begin <= column && column < precise_.end ? 2 : 1;
  }
  // The planes of the columns before `column`.
  int PlanesBefore(int column) const {
    return column + std::clamp(column, precise_.begin, precise_.end) -
           precise_.begin;
  }
  // Where a column begins that is the first of a block, or is not packed.
  size_t PlaceOf(int column) const {
    return column_bytes_ * PlanesBefore(column);
  }
  // Units of a column, see MultiplyArgs.
  int units() const;
  // The key of the primitives for `columns` columns.
  DnnlKey Key(int columns) const {
    return {.dtype = dtype_, .packed = packed_, .k = k_, .n = columns};
  }

  dnnl::engine engine_;
  ComputeType dtype_;
  int k_;
  int n_;
  const EpilogueKernels& kernels_;
  MultiplyKernel kernel_;  // null: oneDNN's
  bool packed_;
  size_t column_bytes_ = 0;              // of one plane
  Range precise_;                        // columns of whole blocks
  std::atomic<bool> too_large_ = false;  // see CheckRange()
  absl::Span<char> data_;                // of the Primitives
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_
