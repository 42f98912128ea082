#ifndef ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_
#define ATTEND_ENGINE_OPS_MATMUL_DNNL_MATMUL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "engine/compute/compute.h"
#include "engine/ops/matmul/compute_type.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

// The seam to oneDNN's matmul. Differences between its versions 2 and 3 stay in
// dnnl_matmul.cc. Functions here throw dnnl::error, for matmul.cc to catch.
namespace attend {

// Rows of the largest primitive. Longer inputs go tile by tile: a larger one
// gains a few percent (see DnnlShape) and needs more memory in cache.
inline constexpr int kTileRows = 64;
// N-slices begin at multiples of this: the columns of one packed block.
inline constexpr int kBlockColumns = 64;

// INTERNAL: the matmuls by `weights` [n, k] could not be made.
absl::Status CreationError(ComputeType dtype, ConstMatrix weights,
                           const dnnl::error& error);
// What `status` of oneDNN says of a multiplication: INTERNAL, or OK.
absl::Status RunStatus(int status, int rows, int k, int n);

// One member's state for any primitive.
struct DnnlMember {
  dnnl::stream stream;
  Buffer<char> scratchpad;
  Buffer<char> padded;  // source and result rows; see least_rows_
};

// What a primitive is made for, but for its number of rows.
struct DnnlKey {
  ComputeType dtype = ComputeType::kF32;
  bool packed = false;  // the layout of the weights, see DnnlWeights
  int k = 0;
  int n = 0;

  bool operator<(const DnnlKey& o) const {
    return std::tie(dtype, packed, k, n) <
           std::tie(o.dtype, o.packed, o.k, o.n);
  }
};

// The primitives dst[m, n] = src[m, k] * weights[k, n] for m = 1 ... max_rows,
// and the memory objects of each member. src is what an Operand of the dtype
// holds; dst is f32, for int8 the int32 sums.
class DnnlShape {
 public:
  DnnlShape(const dnnl::engine& engine, const DnnlKey& key,
            std::vector<DnnlMember>& members);

  // Adds what is missing up to `max_rows` <= kTileRows. Load time only.
  void Reserve(int max_rows);

  // Computes `rows` rows on the calling thread, which acts as `member`;
  // members may run at the same time.
  dnnl_status_t Run(int member, int rows, const void* src,
                    const dnnl::memory& weights, void* dst) const;

 private:
  struct MemberArgs {
    dnnl::memory src;
    dnnl::memory dst;
    dnnl::memory scratchpad;
  };
  struct Entry {
    dnnl::primitive primitive;
    std::vector<MemberArgs> args;  // [members]
  };

  dnnl_status_t Execute(int member, int rows, const void* src,
                        const dnnl::memory& weights, void* dst) const;

  dnnl::engine engine_;
  DnnlKey key_;
  // Fewer rows are computed as the first of so many, because oneDNN would sum K
  // in another order and a row would get other bits than in company: oneDNN 3
  // does for one row and a long K, bf16 kernels for a few.
  int least_rows_;
  std::vector<DnnlMember>& members_;
  std::vector<Entry> entries_;  // [max_rows], entry i for i + 1 rows
};

// What oneDNN needs for one Compute, shared by all matmuls on it: making a
// primitive costs 40 to 200 us, and layers repeat few shapes.
class DnnlContext {
 public:
  explicit DnnlContext(int members);

  // The one of this Compute, made at the first call. Also readies the calling
  // thread for what else is made at load.
  static std::shared_ptr<DnnlContext> Of(Compute& compute);

  // Load time only. The result lives as long as the context.
  DnnlShape& Shape(const DnnlKey& key, int max_rows);
  const dnnl::engine& engine() const { return engine_; }

 private:
  dnnl::engine engine_;
  std::vector<DnnlMember> members_;
  std::map<DnnlKey, std::unique_ptr<DnnlShape>> shapes_;
};

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
  dnnl_status_t Multiply(int member, int rows, const void* src,
                         void* dst) const;
};

// A weight matrix in the layout that matmuls read: blocks of 64 columns one
// after the other, or, where oneDNN has no packed kernel (2.6: f32 on AVX2 and
// less, bf16 without bf16 instructions), the rows of the checkpoint. In both
// the columns [begin, end) lie together, so that one copy serves the whole and
// its slices.
//
// Numbers are rounded as an Operand's are; int8 has a scale for each column.
class DnnlWeights {
 public:
  // `weights` is [n, k] row-major. Load time only.
  DnnlWeights(Compute& compute, ComputeType dtype, ConstMatrix weights);

  // Columns [begin, end) for up to max_rows rows. Valid while this and the
  // context live; `begin` is a multiple of kBlockColumns. Load time only.
  DnnlSlice Slice(DnnlContext& context, int begin, int end, int max_rows);

  // How results in columns from `begin` on become floats, for rows of `src`
  // from `row` on; nothing to do but for int8.
  Dequantize dequantize(int begin, const Operand& src, int row) const;

 private:
  // The numbers of the checkpoint as the dtype, still [n, k] row-major; none
  // for f32.
  Buffer<char> Convert(Compute& compute, ConstMatrix weights);
  // Of the primitives for `columns` of the columns.
  DnnlKey Key(int columns) const {
    return {.dtype = dtype_, .packed = packed_, .k = k_, .n = columns};
  }

  dnnl::engine engine_;
  ComputeType dtype_;
  int k_;
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
