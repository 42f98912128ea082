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

// oneDNN's matmuls. Differences between its versions 2 and 3 stay in
// dnnl_primitives.cc. Functions here throw dnnl::error, for callers to catch.
namespace attend {

// Rows of the largest primitive. Longer inputs go tile by tile: a larger one
// gains a few percent (see DnnlShape) and needs more memory in cache.
inline constexpr int kTileRows = 64;

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

dnnl::memory::desc WeightsDesc(const DnnlKey& key);
// Whether oneDNN has a kernel (brgemm) that reads the packed layout.
bool HasPackedKernel(const dnnl::engine& engine, DnnlKey key);

// What all primitives of a model need of a thread that executes them.
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

// That, of one thread: what executing changes.
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

// The primitives dst[m, n] = src[m, k] * weights[k, n] for m = 1 ... max_rows.
// src is what an Operand of the dtype holds; dst is f32, for int8 the int32
// sums. Const after load.
class DnnlShape {
 public:
  DnnlShape(const dnnl::engine& engine, const DnnlKey& key);

  // Adds what is missing up to `max_rows` <= kTileRows, and its needs. Load
  // time only.
  void Reserve(int max_rows, DnnlNeeds& needs);

  // Computes `rows` rows on the calling thread, which owns `member`.
  dnnl_status_t Run(DnnlMember& member, int rows, const void* src,
                    const dnnl::memory& weights, void* dst) const;

 private:
  struct Entry {
    dnnl::primitive primitive;
    size_t index = 0;  // among all primitives
  };

  dnnl_status_t Execute(DnnlMember& member, int rows, const void* src,
                        const dnnl::memory& weights, void* dst) const;

  dnnl::engine engine_;
  DnnlKey key_;
  // Fewer rows are computed as the first of so many, because oneDNN would sum K
  // in another order and a row would get other bits than in company: oneDNN 3
  // does for one row and a long K, bf16 kernels for a few.
  int least_rows_;
  std::vector<Entry> entries_;  // [max_rows], entry i for i + 1 rows
};

// All shapes of a model.
class DnnlPrimitives {
 public:
  DnnlPrimitives();

  const dnnl::engine& engine() const { return engine_; }
  const DnnlNeeds& needs() const { return needs_; }
  // Load time only. The result lives as long as this.
  const DnnlShape& Shape(const DnnlKey& key, int max_rows);

 private:
  dnnl::engine engine_;
  std::map<DnnlKey, std::unique_ptr<DnnlShape>> shapes_;
  DnnlNeeds needs_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_EXEC_DNNL_PRIMITIVES_H_
