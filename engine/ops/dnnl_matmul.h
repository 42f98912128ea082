#ifndef ATTEND_ENGINE_OPS_DNNL_MATMUL_H_
#define ATTEND_ENGINE_OPS_DNNL_MATMUL_H_

#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/compute/compute.h"
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

// One member's state for any primitive.
struct DnnlMember {
  dnnl::stream stream;
  Buffer<char> scratchpad;
  Buffer<float> pair;  // two source rows, two result rows; see PairsSingleRow
};

// The primitives dst[m, n] = src[m, k] * weights[k, n] for m = 1 ... max_rows,
// and the memory objects of each member.
class DnnlShape {
 public:
  DnnlShape(const dnnl::engine& engine, bool packed, int k, int n,
            std::vector<DnnlMember>& members);

  // Adds what is missing up to `max_rows` <= kTileRows. Load time only.
  void Reserve(int max_rows);

  // Computes `rows` rows on the calling thread, which acts as `member`;
  // members may run at the same time.
  dnnl_status_t Run(int member, int rows, const float* src,
                    const dnnl::memory& weights, float* dst) const;

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

  dnnl_status_t Execute(int member, int rows, const float* src,
                        const dnnl::memory& weights, float* dst) const;

  dnnl::engine engine_;
  bool packed_;
  int k_;
  int n_;
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
  DnnlShape& Shape(bool packed, int k, int n, int max_rows);
  const dnnl::engine& engine() const { return engine_; }

 private:
  dnnl::engine engine_;
  std::vector<DnnlMember> members_;
  std::map<std::pair<bool, std::pair<int, int>>, std::unique_ptr<DnnlShape>>
      shapes_;
};

// A weight matrix in the layout that the primitives read: blocks of 64 columns
// one after the other (AVX-512), or, where oneDNN has no packed kernel for f32
// (2.6 on AVX2 and less), the rows of the checkpoint. In both the columns
// [begin, end) lie together, so that one copy serves the whole and its slices.
class DnnlWeights {
 public:
  // `weights` is [n, k] row-major.
  DnnlWeights(const dnnl::engine& engine, ConstMatrix weights);

  bool packed() const { return packed_; }
  // Valid while this lives; `begin` is a multiple of kBlockColumns.
  dnnl::memory Columns(int begin, int end);

 private:
  dnnl::engine engine_;
  int k_;
  bool packed_;
  size_t column_floats_;
  Buffer<float> data_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_DNNL_MATMUL_H_
