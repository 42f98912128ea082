#include "engine/ops/dnnl_matmul.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

using dnnl::matmul;
using dnnl::memory;
using Tag = memory::format_tag;

// oneDNN asks OpenMP how many threads to use, at creation and at execution; in
// a team each member is one. The setting belongs to the calling thread.
void StayOnThisThread() {
  thread_local const bool done = (omp_set_num_threads(1), true);
  static_cast<void>(done);
}

memory::desc Desc(int rows, int cols, Tag tag) {
  return {{rows, cols}, memory::data_type::f32, tag};
}

Tag WeightsTag(bool packed) { return packed ? Tag::BA16a64b : Tag::ba; }

matmul::primitive_desc MatMulDesc(const dnnl::engine& engine, int m, int k,
                                  int n, Tag weights) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const memory::desc src = Desc(m, k, Tag::ab);
  const memory::desc dst = Desc(m, n, Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, src, Desc(k, n, weights), dst, attr};
#else
  return {matmul::desc(src, Desc(k, n, weights), dst), attr, engine};
#endif
}

// Whether oneDNN has a kernel (brgemm) that reads the packed layout.
bool HasPackedKernel(const dnnl::engine& engine, int k, int n) try {
  const auto desc = MatMulDesc(engine, 1, k, n, WeightsTag(true));
  return absl::StartsWith(desc.impl_info_str(), "brg");
} catch (const dnnl::error& e) {
  if (e.status == dnnl_unimplemented) return false;
  throw;
}

// oneDNN 3 sums a long K in another order for one row than for several. There a
// single row is computed as the first of two, so that its bits stay the same.
bool PairsSingleRow(int k) { return DNNL_VERSION_MAJOR >= 3 && k > 1024; }

}  // namespace

DnnlShape::DnnlShape(const dnnl::engine& engine, bool packed, int k, int n,
                     std::vector<DnnlMember>& members)
    : engine_(engine), packed_(packed), k_(k), n_(n), members_(members) {}

void DnnlShape::Reserve(int max_rows) {
  ATTEND_CHECK(max_rows <= kTileRows);
  for (int m = static_cast<int>(entries_.size()) + 1; m <= max_rows; ++m) {
    const int rows = PairsSingleRow(k_) ? std::max(m, 2) : m;
    const auto desc = MatMulDesc(engine_, rows, k_, n_, WeightsTag(packed_));
    Entry entry{matmul(desc), {}};
    const size_t scratchpad_bytes = desc.scratchpad_desc().get_size();
    for (DnnlMember& member : members_) {
      if (member.scratchpad.size() < scratchpad_bytes) {
        member.scratchpad = Buffer<char>(scratchpad_bytes);
      }
      const size_t pair_floats = PairsSingleRow(k_) ? 2 * (k_ + n_) : 0;
      if (member.pair.size() < pair_floats) {
        member.pair = Buffer<float>(pair_floats);
        std::fill_n(member.pair.data(), pair_floats, 0.0f);
      }
      entry.args.push_back({
          memory(desc.src_desc(), engine_, DNNL_MEMORY_NONE),
          memory(desc.dst_desc(), engine_, DNNL_MEMORY_NONE),
          memory(desc.scratchpad_desc(), engine_, DNNL_MEMORY_NONE),
      });
    }
    entries_.push_back(std::move(entry));
  }
}

dnnl_status_t DnnlShape::Run(int member, int rows, const float* src,
                             const memory& weights, float* dst) const {
  if (rows > 1 || !PairsSingleRow(k_)) {
    return Execute(member, rows, src, weights, dst);
  }
  float* const pair_src = members_[member].pair.data();
  float* const pair_dst = pair_src + 2 * k_;
  std::copy_n(src, k_, pair_src);
  const dnnl_status_t status = Execute(member, 1, pair_src, weights, pair_dst);
  std::copy_n(pair_dst, n_, dst);
  return status;
}

// The C interface: the C++ one copies the arguments into a vector.
dnnl_status_t DnnlShape::Execute(int member, int rows, const float* src,
                                 const memory& weights, float* dst) const {
  StayOnThisThread();
  const Entry& entry = entries_[rows - 1];
  const MemberArgs& args = entry.args[member];
  DnnlMember& state = members_[member];
  dnnl_status_t status =
      dnnl_memory_set_data_handle(args.src.get(), const_cast<float*>(src));
  if (status != dnnl_success) return status;
  status = dnnl_memory_set_data_handle(args.dst.get(), dst);
  if (status != dnnl_success) return status;
  status = dnnl_memory_set_data_handle(args.scratchpad.get(),
                                       state.scratchpad.data());
  if (status != dnnl_success) return status;
  const dnnl_exec_arg_t list[] = {
      {DNNL_ARG_SRC, args.src.get()},
      {DNNL_ARG_WEIGHTS, weights.get()},
      {DNNL_ARG_DST, args.dst.get()},
      {DNNL_ARG_SCRATCHPAD, args.scratchpad.get()},
  };
  return dnnl_primitive_execute(entry.primitive.get(), state.stream.get(), 4,
                                list);
}

DnnlContext::DnnlContext(int members)
    : engine_(dnnl::engine::kind::cpu, 0), members_(members) {
  for (DnnlMember& member : members_) member.stream = dnnl::stream(engine_);
}

std::shared_ptr<DnnlContext> DnnlContext::Of(Compute& compute) {
  StayOnThisThread();
  std::shared_ptr<void>& state = compute.op_state();
  if (state == nullptr) {
    state = std::make_shared<DnnlContext>(compute.team().size());
  }
  return std::static_pointer_cast<DnnlContext>(state);
}

DnnlShape& DnnlContext::Shape(bool packed, int k, int n, int max_rows) {
  std::unique_ptr<DnnlShape>& shape = shapes_[{packed, {k, n}}];
  if (shape == nullptr) {
    shape = std::make_unique<DnnlShape>(engine_, packed, k, n, members_);
  }
  shape->Reserve(max_rows);
  return *shape;
}

DnnlWeights::DnnlWeights(const dnnl::engine& engine, ConstMatrix weights)
    : engine_(engine),
      k_(weights.cols),
      packed_(HasPackedKernel(engine, weights.cols, weights.rows)) {
  const int n = weights.rows;
  const memory::desc desc = Desc(k_, n, WeightsTag(packed_));
  const int columns =
      packed_ ? (n + kBlockColumns - 1) / kBlockColumns * kBlockColumns : n;
  column_floats_ = desc.get_size() / sizeof(float) / columns;
  data_ = Buffer<float>(column_floats_ * columns);
  if (!packed_) {
    std::memcpy(data_.data(), weights.data, sizeof(float) * data_.size());
    return;
  }
  memory from(Desc(k_, n, Tag::ba), engine_, const_cast<float*>(weights.data));
  memory to(desc, engine_, data_.data());
  dnnl::stream stream(engine_);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

memory DnnlWeights::Columns(int begin, int end) {
  ATTEND_CHECK(begin % kBlockColumns == 0);
  return {Desc(k_, end - begin, WeightsTag(packed_)), engine_,
          data_.data() + column_floats_ * begin};
}

}  // namespace attend
