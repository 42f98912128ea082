#ifndef ATTEND_ENGINE_OPS_EXEC_DNNL_PRIMITIVES_H_
#define ATTEND_ENGINE_OPS_EXEC_DNNL_PRIMITIVES_H_

#include <cstddef>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>
#include <vector>

#include "engine/ops/exec/compute_type.h"
#include "engine/tensor/buffer.h"

// oneDNN's matmuls. Differences between versions 2 and 3 of oneDNN stay in
// dnnl_primitives.cc. Functions here throw dnnl::error; callers catch it.
namespace attend {

// Rows of the largest primitive. More rows are computed tile by tile. Larger
// primitives would gain a few percent, and need more cache.
inline constexpr int kTileRows = 64;

// What a primitive is made for, without the number of rows.
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

dnnl::memory::desc WeightsDesc(const DnnlKey& key);
// Whether oneDNN has a kernel (brgemm) that reads the packed layout rightly.
bool HasPackedKernel(const dnnl::engine& engine, DnnlKey key);

// The memory that a thread needs to execute any primitive of a model.
struct DnnlNeeds {
  struct Descs {
    dnnl::memory::desc src;
    dnnl::memory::desc dst;
    dnnl::memory::desc scratchpad;
  };
  std::vector<Descs> descs;  // [primitives]
  size_t scratchpad_bytes = 0;
  size_t padded_bytes = 0;
};

// The memory of one thread, as DnnlNeeds says: everything that execution
// changes.
struct DnnlMember {
  DnnlMember(const dnnl::engine& engine, const DnnlNeeds& needs);

  struct Args {
    dnnl::memory src;
    dnnl::memory dst;
    dnnl::memory scratchpad;
  };
  dnnl::stream stream;
  std::vector<Args> args;  // [primitives]
  Buffer<char> scratchpad;
  Buffer<char> padded;  // source and result rows; see DnnlShape
};

// The primitives dst [m, n] = src [m, k] * weights [k, n] for m = 1 ...
// max_rows. src has the numbers of an Operand of the dtype. dst has f32.
// Const after load.
class DnnlShape {
 public:
  DnnlShape(const dnnl::engine& engine, const DnnlKey& key);

  // Adds the primitives that are missing up to `max_rows` <= kTileRows, and
  // adds what they need to `needs`. Load time only.
  void Reserve(int max_rows, DnnlNeeds& needs);

  // Computes `rows` rows on the calling thread, which owns `member`.
  dnnl_status_t Run(DnnlMember& member, int rows, const void* src,
                    const dnnl::memory& weights, float* dst) const;

 private:
  struct Entry {
    dnnl::primitive primitive;
    size_t index = 0;  // among all primitives
  };

  dnnl_status_t Execute(DnnlMember& member, int rows, const void* src,
                        const dnnl::memory& weights, float* dst) const;

  dnnl::engine engine_;
  DnnlKey key_;
  // Fewer rows than this are computed as the first rows of this many. For fewer
  // rows oneDNN would sum over K in another order (oneDNN 3: for 1 row and a
  // long K; bf16 kernels: for a few rows), and a row's bits would depend on the
  // number of rows.
  int least_rows_;
  std::vector<Entry> entries_;  // [max_rows], entry i for i + 1 rows
};

// All shapes of a model.
class DnnlPrimitives {
 public:
  DnnlPrimitives();

  const dnnl::engine& engine() const { return engine_; }
  const DnnlNeeds& needs() const { return needs_; }
  // The primitives for `key` and up to max_rows rows; valid as long as this
  // object. Load time only.
  const DnnlShape& Shape(const DnnlKey& key, int max_rows);

 private:
  dnnl::engine engine_;
  std::map<DnnlKey, std::unique_ptr<DnnlShape>> shapes_;
  DnnlNeeds needs_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_DNNL_PRIMITIVES_H_
