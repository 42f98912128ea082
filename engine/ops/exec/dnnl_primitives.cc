#include "engine/ops/exec/dnnl_primitives.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

using dnnl::matmul;
using dnnl::memory;
using Tag = memory::format_tag;

// oneDNN asks OpenMP for the number of threads, at creation and at execution.
// Each member of a team computes alone. The setting is that of the calling
// thread.
void StayOnThisThread() {
  thread_local const bool done = (omp_set_num_threads(1), true);
  static_cast<void>(done);
}

memory::data_type NumberType(ComputeType dtype) {
  switch (dtype) {
    case ComputeType::kF32:
      return memory::data_type::f32;
    case ComputeType::kBf16:
      return memory::data_type::bf16;
    case ComputeType::kInt8:
    case ComputeType::kW8:
    case ComputeType::kInt4:
      break;  // oneDNN has none
  }
  return memory::data_type::undef;
}

// Packed: blocks of 64 columns. In a block 1 or 2 numbers of a column lie
// together, as many as fill four bytes.
Tag WeightsTag(ComputeType dtype, bool packed) {
  if (!packed) return Tag::ba;
  switch (dtype) {
    case ComputeType::kF32:
      return Tag::BA16a64b;
    case ComputeType::kBf16:
      return Tag::BA16a64b2a;
    case ComputeType::kInt8:
    case ComputeType::kW8:
    case ComputeType::kInt4:
      break;
  }
  return Tag::undef;
}

matmul::primitive_desc MatMulDesc(const dnnl::engine& engine, int m,
                                  const DnnlKey& key) {
  StayOnThisThread();
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const memory::desc src({m, key.k}, NumberType(key.dtype), Tag::ab);
  const memory::desc dst({m, key.n}, memory::data_type::f32, Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, src, WeightsDesc(key), dst, attr};
#else
  return {matmul::desc(src, WeightsDesc(key), dst), attr, engine};
#endif
}

std::string KernelName(const dnnl::engine& engine, int m, const DnnlKey& key) {
  return MatMulDesc(engine, m, key).impl_info_str();
}

// For bf16 on AMX oneDNN 2.6 has another kernel for 1 row of 256 columns, 2
// rows of 128, and 4 rows of 64. With K above 2048 the order of the sum differs
// for every number of rows.
int LeastBf16Rows(const dnnl::engine& engine, const DnnlKey& key) {
  if (key.k > 2048) return kTileRows;
  const std::string kernel = KernelName(engine, kTileRows, key);
  int least = 2;
  while (KernelName(engine, least, key) != kernel) ++least;
  return least;
}

int LeastRows(const dnnl::engine& engine, const DnnlKey& key) {
  if (key.dtype == ComputeType::kBf16) return LeastBf16Rows(engine, key);
  const bool f32 = key.dtype == ComputeType::kF32;
  return DNNL_VERSION_MAJOR >= 3 && f32 && key.k > 1024 ? 2 : 1;
}

}  // namespace

memory::desc WeightsDesc(const DnnlKey& key) {
  return {
      {key.k, key.n}, NumberType(key.dtype), WeightsTag(key.dtype, key.packed)};
}

bool HasPackedKernel(const dnnl::engine& engine, DnnlKey key) try {
  key.packed = true;
  const std::string kernel = KernelName(engine, 1, key);
  // With K above 1024 oneDNN 3.7 multiplies f32 wrongly by its kernel for AVX2,
  // or crashes. Those for AVX2-VNNI, not tried, are not trusted either.
  if (absl::StartsWith(kernel, "brg_matmul:avx2") && key.k > 1024) return false;
  return absl::StartsWith(kernel, "brg");
} catch (const dnnl::error& e) {
  if (e.status == dnnl_unimplemented) return false;
  throw;
}

DnnlMember::DnnlMember(const dnnl::engine& engine, const DnnlNeeds& needs)
    : stream(engine),
      scratchpad(needs.scratchpad_bytes),
      padded(needs.padded_bytes) {
  args.reserve(needs.descs.size());
  for (const DnnlNeeds::Descs& descs : needs.descs) {
    args.push_back({memory(descs.src, engine, DNNL_MEMORY_NONE),
                    memory(descs.dst, engine, DNNL_MEMORY_NONE),
                    memory(descs.scratchpad, engine, scratchpad.data())});
  }
}

DnnlShape::DnnlShape(const dnnl::engine& engine, const DnnlKey& key)
    : engine_(engine), key_(key), least_rows_(LeastRows(engine, key)) {}

void DnnlShape::Reserve(int max_rows, DnnlNeeds& needs) {
  ATTEND_CHECK(max_rows <= kTileRows);
  for (int m = static_cast<int>(entries_.size()) + 1; m <= max_rows; ++m) {
    const auto desc = MatMulDesc(engine_, std::max(m, least_rows_), key_);
    entries_.push_back({matmul(desc), needs.descs.size()});
    needs.descs.push_back(
        {desc.src_desc(), desc.dst_desc(), desc.scratchpad_desc()});
    needs.scratchpad_bytes =
        std::max(needs.scratchpad_bytes, desc.scratchpad_desc().get_size());
    if (m >= least_rows_) continue;
    needs.padded_bytes = std::max(
        needs.padded_bytes,
        least_rows_ * (key_.k * BytesOf(key_.dtype) + key_.n * sizeof(float)));
  }
}

dnnl_status_t DnnlShape::Run(DnnlMember& member, int rows, const void* src,
                             const memory& weights, float* dst) const {
  if (rows >= least_rows_) return Execute(member, rows, src, weights, dst);
  // The other rows may hold anything: nobody reads their results.
  float* const padded_dst = reinterpret_cast<float*>(member.padded.data());
  float* const padded_src = padded_dst + least_rows_ * key_.n;
  std::memcpy(padded_src, src,
              static_cast<size_t>(rows) * key_.k * BytesOf(key_.dtype));
  const dnnl_status_t status =
      Execute(member, rows, padded_src, weights, padded_dst);
  std::memcpy(dst, padded_dst, rows * key_.n * sizeof(float));
  return status;
}

// Uses the C interface: the C++ interface copies the arguments into a vector.
dnnl_status_t DnnlShape::Execute(DnnlMember& member, int rows, const void* src,
                                 const memory& weights, float* dst) const {
  StayOnThisThread();
  const Entry& entry = entries_[rows - 1];
  DnnlMember::Args& args = member.args[entry.index];
  dnnl_status_t status =
      dnnl_memory_set_data_handle(args.src.get(), const_cast<void*>(src));
  if (status != dnnl_success) return status;
  status = dnnl_memory_set_data_handle(args.dst.get(), dst);
  if (status != dnnl_success) return status;
  const dnnl_exec_arg_t list[] = {
      {DNNL_ARG_SRC, args.src.get()},
      {DNNL_ARG_WEIGHTS, weights.get()},
      {DNNL_ARG_DST, args.dst.get()},
      {DNNL_ARG_SCRATCHPAD, args.scratchpad.get()},
  };
  // Its map of arguments takes memory, and the thread may be one of a team,
  // from which no exception may come.
  try {
    return dnnl_primitive_execute(entry.primitive.get(), member.stream.get(), 4,
                                  list);
  } catch (const std::bad_alloc&) {
    return dnnl_out_of_memory;
  }
}

DnnlPrimitives::DnnlPrimitives() : engine_(dnnl::engine::kind::cpu, 0) {}

const DnnlShape& DnnlPrimitives::Shape(const DnnlKey& key, int max_rows) {
  std::unique_ptr<DnnlShape>& shape = shapes_[key];
  if (shape == nullptr) shape = std::make_unique<DnnlShape>(engine_, key);
  shape->Reserve(max_rows, needs_);
  return *shape;
}

}  // namespace attend
