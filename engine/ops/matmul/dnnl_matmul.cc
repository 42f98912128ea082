#include "engine/ops/matmul/dnnl_matmul.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/ops/matmul/f32_kernel.h"
#include "engine/ops/matmul/operand.h"
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

memory::data_type SourceType(ComputeType dtype) {
  switch (dtype) {
    case ComputeType::kF32:
      return memory::data_type::f32;
    case ComputeType::kBf16:
      return memory::data_type::bf16;
    case ComputeType::kInt8:
      return memory::data_type::u8;
  }
  return memory::data_type::undef;
}

memory::data_type WeightsType(ComputeType dtype) {
  return dtype == ComputeType::kInt8 ? memory::data_type::s8
                                     : SourceType(dtype);
}

memory::data_type ResultType(ComputeType dtype) {
  return dtype == ComputeType::kInt8 ? memory::data_type::s32
                                     : memory::data_type::f32;
}

constexpr size_t kResultBytes = 4;

// Packed: blocks of 64 columns, in which 1, 2 or 4 numbers of a column that
// fill four bytes lie together.
Tag WeightsTag(ComputeType dtype, bool packed) {
  if (!packed) return Tag::ba;
  switch (dtype) {
    case ComputeType::kF32:
      return Tag::BA16a64b;
    case ComputeType::kBf16:
      return Tag::BA16a64b2a;
    case ComputeType::kInt8:
      return Tag::BA16a64b4a;
  }
  return Tag::undef;
}

memory::desc WeightsDesc(const DnnlKey& key) {
  return {{key.k, key.n},
          WeightsType(key.dtype),
          WeightsTag(key.dtype, key.packed)};
}

matmul::primitive_desc MatMulDesc(const dnnl::engine& engine, int m,
                                  const DnnlKey& key) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const memory::desc src({m, key.k}, SourceType(key.dtype), Tag::ab);
  const memory::desc dst({m, key.n}, ResultType(key.dtype), Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, src, WeightsDesc(key), dst, attr};
#else
  return {matmul::desc(src, WeightsDesc(key), dst), attr, engine};
#endif
}

// Whether oneDNN has a kernel (brgemm) that reads the packed layout.
bool HasPackedKernel(const dnnl::engine& engine, DnnlKey key) try {
  key.packed = true;
  const auto desc = MatMulDesc(engine, 1, key);
  return absl::StartsWith(desc.impl_info_str(), "brg");
} catch (const dnnl::error& e) {
  if (e.status == dnnl_unimplemented) return false;
  throw;
}

std::string KernelName(const dnnl::engine& engine, int m, const DnnlKey& key) {
  return MatMulDesc(engine, m, key).impl_info_str();
}

// Of bf16: on AMX oneDNN 2.6 takes another kernel for 1 row of 256 columns, 2
// of 128, 4 of 64; and other orders for any number where K is longer than 2048.
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

// Makes s8 of the u8 of an Operand, in place, and returns their sum.
int32_t Unshift(void* numbers, int count) {
  uint8_t* const bytes = static_cast<uint8_t*>(numbers);
  int32_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const int number = bytes[i] - 128;
    bytes[i] = static_cast<uint8_t>(number);
    sum += number;
  }
  return sum;
}

}  // namespace

absl::Status CreationError(ComputeType dtype, ConstMatrix weights,
                           const dnnl::error& error) {
  return absl::InternalError(absl::StrCat(
      "onednn matmul in ", TypeName(dtype), " with k = ", weights.cols,
      ", n = ", weights.rows, ": ", error.what()));
}

absl::Status RunStatus(int status, int rows, int k, int n) {
  if (status == dnnl_success) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("onednn matmul with k = ", k,
                                          ", n = ", n, ", rows = ", rows,
                                          ": status ", status));
}

DnnlShape::DnnlShape(const dnnl::engine& engine, const DnnlKey& key,
                     std::vector<DnnlMember>& members)
    : engine_(engine),
      key_(key),
      least_rows_(LeastRows(engine, key)),
      members_(members) {}

void DnnlShape::Reserve(int max_rows) {
  ATTEND_CHECK(max_rows <= kTileRows);
  for (int m = static_cast<int>(entries_.size()) + 1; m <= max_rows; ++m) {
    const auto desc = MatMulDesc(engine_, std::max(m, least_rows_), key_);
    Entry entry{matmul(desc), {}};
    const size_t scratchpad_bytes = desc.scratchpad_desc().get_size();
    for (DnnlMember& member : members_) {
      if (member.scratchpad.size() < scratchpad_bytes) {
        member.scratchpad = Buffer<char>(scratchpad_bytes);
      }
      const size_t padded_bytes =
          m < least_rows_ ? least_rows_ * (key_.k * BytesOf(key_.dtype) +
                                           key_.n * kResultBytes)
                          : 0;
      if (member.padded.size() < padded_bytes) {
        member.padded = Buffer<char>(padded_bytes);
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

dnnl_status_t DnnlShape::Run(int member, int rows, const void* src,
                             const memory& weights, void* dst) const {
  if (rows >= least_rows_) return Execute(member, rows, src, weights, dst);
  // What the other rows hold does not matter: nobody reads their results.
  char* const padded_dst = members_[member].padded.data();
  char* const padded_src = padded_dst + least_rows_ * key_.n * kResultBytes;
  std::memcpy(padded_src, src,
              static_cast<size_t>(rows) * key_.k * BytesOf(key_.dtype));
  const dnnl_status_t status =
      Execute(member, rows, padded_src, weights, padded_dst);
  std::memcpy(dst, padded_dst, rows * key_.n * kResultBytes);
  return status;
}

// The C interface: the C++ one copies the arguments into a vector.
dnnl_status_t DnnlShape::Execute(int member, int rows, const void* src,
                                 const memory& weights, void* dst) const {
  StayOnThisThread();
  const Entry& entry = entries_[rows - 1];
  const MemberArgs& args = entry.args[member];
  DnnlMember& state = members_[member];
  dnnl_status_t status =
      dnnl_memory_set_data_handle(args.src.get(), const_cast<void*>(src));
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

DnnlShape& DnnlContext::Shape(const DnnlKey& key, int max_rows) {
  std::unique_ptr<DnnlShape>& shape = shapes_[key];
  if (shape == nullptr) {
    shape = std::make_unique<DnnlShape>(engine_, key, members_);
  }
  shape->Reserve(max_rows);
  return *shape;
}

dnnl_status_t DnnlSlice::Multiply(int member, int rows, const void* src,
                                  void* dst) const {
  if (shape != nullptr) return shape->Run(member, rows, src, weights, dst);
  static_assert(kTileRows <= kF32Rows && kBlockColumns == kF32BlockColumns);
  avx512::MultiplyF32(
      {.src = static_cast<const float*>(src),
       .weights = static_cast<const float*>(weights.get_data_handle()),
       .dst = static_cast<float*>(dst),
       .rows = rows,
       .k = k,
       .padded_k = padded_k,
       .n = columns});
  return dnnl_success;
}

DnnlWeights::DnnlWeights(Compute& compute, ComputeType dtype,
                         ConstMatrix weights)
    : engine_(DnnlContext::Of(compute)->engine()),
      dtype_(dtype),
      k_(weights.cols),
      packed_(false),
      own_kernel_(false) {
  const int n = weights.rows;
  packed_ = HasPackedKernel(engine_, Key(n));
  own_kernel_ =
      packed_ && dtype == ComputeType::kF32 && compute.isa() >= Isa::kAvx512;
  const Buffer<char> converted = Convert(compute, weights);
  const void* rows = weights.data;
  if (dtype != ComputeType::kF32) rows = converted.data();
  const memory::desc desc = WeightsDesc(Key(n));
  const int columns =
      packed_ ? (n + kBlockColumns - 1) / kBlockColumns * kBlockColumns : n;
  column_bytes_ = desc.get_size() / columns;
  data_ = Buffer<char>(column_bytes_ * columns);
  if (!packed_) {
    std::memcpy(data_.data(), rows, data_.size());
    return;
  }
  memory from({{k_, n}, WeightsType(dtype), Tag::ba}, engine_,
              const_cast<void*>(rows));
  memory to(desc, engine_, data_.data());
  dnnl::stream stream(engine_);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

Buffer<char> DnnlWeights::Convert(Compute& compute, ConstMatrix weights) {
  if (dtype_ == ComputeType::kF32) return {};
  const size_t count = static_cast<size_t>(weights.rows) * k_;
  Buffer<char> rows(count * BytesOf(dtype_));
  Operand operand = {
      .dtype = dtype_, .data = rows.data(), .rows = weights.rows, .cols = k_};
  if (dtype_ == ComputeType::kInt8) {
    column_scales_ = Buffer<float>(weights.rows);
    operand.scales = column_scales_.data();
  }
  MakeOperand(compute, weights, operand);
  if (dtype_ == ComputeType::kInt8) {
    shift_sums_ = Buffer<int32_t>(weights.rows);
    column_sums_ = Buffer<float>(weights.rows);
    for (int column = 0; column < weights.rows; ++column) {
      const int32_t sum = Unshift(operand.row(column), k_);
      shift_sums_[column] = 128 * sum;
      column_sums_[column] = static_cast<float>(sum);
    }
  }
  return rows;
}

DnnlSlice DnnlWeights::Slice(DnnlContext& context, int begin, int end,
                             int max_rows) {
  ATTEND_CHECK(begin % kBlockColumns == 0);
  const DnnlKey key = Key(end - begin);
  return {.begin = begin,
          .columns = end - begin,
          .shape = own_kernel_ ? nullptr : &context.Shape(key, max_rows),
          .weights = {WeightsDesc(key), engine_,
                      data_.data() + column_bytes_ * begin},
          .k = k_,
          .padded_k = static_cast<int>(column_bytes_ / BytesOf(dtype_))};
}

Dequantize DnnlWeights::dequantize(int begin, const Operand& src,
                                   int row) const {
  if (dtype_ != ComputeType::kInt8) return {};
  return {.column_sums = column_sums_.data() + begin,
          .shift_sums = shift_sums_.data() + begin,
          .column_scales = column_scales_.data() + begin,
          .row_offsets = src.offsets + row,
          .row_scales = src.scales + row};
}

}  // namespace attend
