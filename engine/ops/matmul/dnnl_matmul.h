#ifndef ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_
#define ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_

#include <atomic>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "absl/status/status.h"
#include "engine/compute/compute.h"
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
// columns, one after the other. Where no kernel reads that (of oneDNN 2.6: f32
// on AVX2 and less, bf16 without bf16 instructions; of oneDNN 3.7: a long K on
// AVX2): the rows of the checkpoint. In both layouts the columns [begin, end)
// lie together, so that one copy serves the whole matrix and all slices.
//
// Numbers are rounded as in an Operand, but for those of w8 and int4, which are
// WeightGroups. Read() gives the rounded numbers, unspread: row c is column c
// of the weights.
class DnnlWeights final : public RowSource {
 public:
  // `weights` is [n, k], and read once, kBlockColumns rows at a time. Load
  // time only.
  DnnlWeights(Primitives& primitives, ComputeType dtype,
              const RowSource& weights);

  int rows() const override { return n_; }
  int cols() const override { return k_; }
  void Read(int first, Matrix dst) const override;
  // INVALID_ARGUMENT if the numbers are too large for the dtype.
  absl::Status CheckRange() const;

  // Columns [begin, end), for products with up to max_rows rows. `begin` is a
  // multiple of kBlockColumns. Valid while the weights and `primitives` exist.
  // Load time only.
  DnnlSlice Slice(Primitives& primitives, int begin, int end, int max_rows);

 private:
  // Memory for one member to pack with: the columns of a block as floats, and
  // rounded to the dtype.
  struct PackBuffer {
    Buffer<float> floats;      // [columns, k]
    Buffer<uint32_t> rounded;  // [columns, k], an Operand
  };
  void Pack(Compute& compute, const RowSource& weights);
  // Packs the block whose columns begin at `begin`.
  void PackBlock(const RowSource& weights, int begin, PackBuffer& buffer);
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
  size_t column_bytes_ = 0;
  std::atomic<bool> too_large_ = false;  // see CheckRange()
  Buffer<char> data_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_
