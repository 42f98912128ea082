#include "engine/ops/matmul/matmul.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/compute/op_timer.h"
#include "engine/ops/matmul/dnnl_matmul.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// With this many rows a member, or more, each computes a share of the rows with
// all columns: no other member is needed for a row's epilogue. With fewer each
// computes a slice of the columns for all rows: the cost is to read weights.
constexpr int kRowsWorthAShare = 32;

// Rows that go through the epilogue together: few enough to stay in L1.
constexpr int kAppliedRows = 4;

// The result of a multiplication: dense rows of the slice's columns.
struct Product {
  const DnnlSlice* slice = nullptr;
  const float* rows = nullptr;

  int end() const { return slice->begin + slice->columns; }
};

// One call of Run().
struct Call {
  ExecContext& context;
  const Operand& src;
  const Epilogue& epilogue;
  Matrix dst;
  // The first error of any member.
  std::atomic<int> error = dnnl_success;

  // Whether rows need memory only until their operand is made.
  bool unwritten() const {
    return epilogue.operand_only && epilogue.operand.data != dst.data;
  }
};

}  // namespace

struct MatMul::Impl {
  Impl(Primitives& primitives, ComputeType dtype, const RowSource& matrix,
       int most_rows, Range precise);

  int TileRows() const { return std::min(max_rows, kTileRows); }

  // Whether sums of products begin with the bias, so that there is nothing to
  // apply to them. Not so a residual: its rows are seldom in the cache, and the
  // kernel would read them a block of columns at a time.
  bool IsInSums(const Epilogue& e) const {
    return dtype == ComputeType::kInt8 && !e.gated &&
           e.activation == Activation::kNone && e.bias != nullptr &&
           e.residual == nullptr;
  }

  // Rows [tile.begin, tile.end).
  void RunSliced(Call& call, Range tile) const;
  // One member's rows [rows.begin, rows.end).
  void RunRows(Call& call, int member, Range rows) const;
  // result [rows, slice.columns], dense, = rows of the source * slice, and the
  // low rank.
  void Multiply(Call& call, int member, const DnnlSlice& slice, Range rows,
                float* result) const;
  // Adds the low rank to the slice's columns of the rows, which are `stride`
  // apart in `result`.
  void AddLowRank(const Call& call, const DnnlSlice& slice, Range rows,
                  float* result, int stride) const;
  // The slice's columns of dst, whose row 0 is rows.begin, = rows of the source
  // * slice + bias, and the low rank, if IsInSums().
  void MultiplyAndAdd(const Call& call, const DnnlSlice& slice, Range rows,
                      float* dst) const;
  // Where RunSliced() puts the product of a slice and a tile of `rows` rows,
  // for all members to read after they have met.
  float* ResultOf(Call& call, const DnnlSlice& slice, int rows) const;
  // Some columns of some rows of `product`, and the bias of these columns.
  ResultTile TileOf(const Call& call, Range rows, Product product,
                    Range columns) const;
  // Applies bias, activation and residual to `product`, into dst, whose row 0
  // is rows.begin.
  void Apply(const Call& call, Range rows, Product product, float* dst) const;
  // Computes activation(gate + bias) * (value + bias) for some columns, into
  // dst + columns.begin.
  void Gate(const Call& call, Range rows, Product gate, Product value,
            Range columns, float* dst) const;
  // Gate() for all columns of a row, from the slices that RunSliced() has
  // multiplied.
  void GateSlices(Call& call, Range tile, int row, float* dst) const;
  // The rest of the epilogue (norm, operand) for rows with all columns, of
  // which the first is dst.
  void Finish(const Call& call, Range rows, float* dst) const;
  // True if the columns of a slice become an operand without the others.
  bool MakesOperandOfSlices(const Epilogue& e) const;

  const int k;
  const int n;
  const int max_rows;
  DnnlWeights weights;
  const ComputeType dtype;
  const EpilogueKernels& kernels;
  DnnlSlice whole;
  std::vector<DnnlSlice> slices;  // [members]; empty if N is too narrow
  bool slices_are_groups = true;  // slices begin with a group of int8
};

MatMul::Impl::Impl(Primitives& primitives, ComputeType number,
                   const RowSource& matrix, int most_rows, Range precise)
    : k(matrix.cols()),
      n(matrix.rows()),
      max_rows(most_rows),
      weights(primitives, number, matrix, precise),
      dtype(number),
      kernels(EpilogueKernelsFor(primitives.isa())) {
  whole = weights.Slice(primitives, 0, n, TileRows());
  const int members = primitives.compute().team().size();
  if (members > 1 && n >= members * kBlockColumns) {
    for (int member = 0; member < members; ++member) {
      const Range share = weights.ShareOf(member, members);
      slices.push_back(
          weights.Slice(primitives, share.begin, share.end, TileRows()));
      if (share.begin % Int8Group::kNumbers != 0) slices_are_groups = false;
    }
  }
  // Scratch: the product of a tile, and a few rows after their epilogue.
  primitives.ReserveScratch(static_cast<size_t>(TileRows() + kAppliedRows) * n);
  // Exchange: the products of a tile, and its rows.
  if (!slices.empty()) primitives.ReserveExchange(size_t{2} * kTileRows * n);
}

void MatMul::Impl::Multiply(Call& call, int member, const DnnlSlice& slice,
                            Range rows, float* result) const {
  const dnnl_status_t status =
      slice.Multiply(call.context.dnnl(member), rows.end - rows.begin,
                     call.src.row(rows.begin), result);
  if (status != dnnl_success) call.error = status;
  AddLowRank(call, slice, rows, result, slice.columns);
}

void MatMul::Impl::AddLowRank(const Call& call, const DnnlSlice& slice,
                              Range rows, float* result, int stride) const {
  if (call.epilogue.low_rank == nullptr) return;
  const LowRank& low = *call.epilogue.low_rank;
  for (int r = rows.begin; r < rows.end;) {
    const int choice = low.choices[r];
    const int first = r++;
    while (r < rows.end && low.choices[r] == choice) ++r;
    if (choice < 0) continue;
    const ptrdiff_t skipped = ptrdiff_t{choice} * low.rank;
    kernels.add_low_rank(
        {.left = low.left.row(first) + skipped,
         .right = low.right + skipped * n + slice.begin,
         .dst = result + ptrdiff_t{first - rows.begin} * stride,
         .rows = r - first,
         .rank = low.rank,
         .columns = slice.columns,
         .left_stride = low.left.cols,
         .right_stride = n,
         .dst_stride = stride});
  }
}

void MatMul::Impl::MultiplyAndAdd(const Call& call, const DnnlSlice& slice,
                                  Range rows, float* dst) const {
  MultiplyArgs args = slice.args;
  args.src = call.src.row(rows.begin);
  args.dst = dst + slice.begin;
  args.dst_stride = n;
  args.rows = rows.end - rows.begin;
  args.first = call.epilogue.bias + slice.begin;
  slice.kernel(args);
  AddLowRank(call, slice, rows, args.dst, n);
}

float* MatMul::Impl::ResultOf(Call& call, const DnnlSlice& slice,
                              int rows) const {
  return call.context.exchange().data() + ptrdiff_t{rows} * slice.begin;
}

ResultTile MatMul::Impl::TileOf(const Call& call, Range rows, Product product,
                                Range columns) const {
  const float* const bias = call.epilogue.bias;
  return {.src = product.rows + (columns.begin - product.slice->begin),
          .bias = bias == nullptr ? nullptr : bias + columns.begin,
          .columns = columns.end - columns.begin,
          .rows = rows.end - rows.begin,
          .src_stride = product.slice->columns,
          .dst_stride = call.dst.cols};
}

void MatMul::Impl::Apply(const Call& call, Range rows, Product product,
                         float* dst) const {
  const Epilogue& e = call.epilogue;
  const int begin = product.slice->begin;
  ResultTile tile = TileOf(call, rows, product, {begin, product.end()});
  if (e.residual != nullptr) {
    tile.residual = e.residual + static_cast<size_t>(rows.begin) * n + begin;
  }
  tile.dst = dst + begin;
  kernels.apply(tile, e.activation);
}

void MatMul::Impl::Gate(const Call& call, Range rows, Product gate,
                        Product value, Range columns, float* dst) const {
  const int width = call.dst.cols;
  const ResultTile values =
      TileOf(call, rows, value, {width + columns.begin, width + columns.end});
  ResultTile tile = TileOf(call, rows, gate, columns);
  tile.value = &values;
  tile.dst = dst + columns.begin;
  kernels.apply(tile, call.epilogue.activation);
}

void MatMul::Impl::GateSlices(Call& call, Range tile, int row,
                              float* dst) const {
  const auto product = [&](int column) {
    int member = 0;
    while (column >= slices[member].begin + slices[member].columns) ++member;
    const DnnlSlice& slice = slices[member];
    return Product{&slice,
                   ResultOf(call, slice, tile.end - tile.begin) +
                       static_cast<size_t>(row - tile.begin) * slice.columns};
  };
  const int width = call.dst.cols;
  for (int begin = 0; begin < width;) {
    const Product gate = product(begin);
    const Product value = product(width + begin);
    const int end = std::min({width, gate.end(), value.end() - width});
    Gate(call, {row, row + 1}, gate, value, {begin, end}, dst);
    begin = end;
  }
}

void MatMul::Impl::Finish(const Call& call, Range rows, float* dst) const {
  const Epilogue& e = call.epilogue;
  const int width = call.dst.cols;
  if (e.norm != nullptr) {
    kernels.normalize(dst, *e.norm, rows.end - rows.begin, width, dst);
  }
  if (e.operand.data == nullptr || e.operand.data == call.dst.data) return;
  kernels.make_operand(dst, e.operand, rows, {0, width});
}

bool MatMul::Impl::MakesOperandOfSlices(const Epilogue& e) const {
  return e.operand.data != nullptr && e.norm == nullptr && !e.gated &&
         (e.operand.dtype != ComputeType::kInt8 || slices_are_groups);
}

void MatMul::Impl::RunSliced(Call& call, Range tile) const {
  Team& team = call.context.team();
  const Epilogue& e = call.epilogue;
  const int rows = tile.end - tile.begin;
  // Rows that dst does not get lie behind the products of a whole tile.
  const Matrix dst = {call.unwritten() ? ResultOf(call, {.begin = n}, kTileRows)
                                       : call.dst.row(tile.begin),
                      rows, call.dst.cols};
  // Slices' products are dense: oneDNN's packed kernels write no strided ones.
  team.Run([&](int member) {
    const DnnlSlice& slice = slices[member];
    if (IsInSums(e)) {
      MultiplyAndAdd(call, slice, tile, dst.data);
    } else {
      float* const result = ResultOf(call, slice, rows);
      Multiply(call, member, slice, tile, result);
      if (e.gated) return;  // the gate may be one member's, the value another's
      Apply(call, tile, {&slice, result}, dst.data);
    }
    if (MakesOperandOfSlices(e) && e.operand.data != call.dst.data) {
      kernels.make_operand(dst.data, e.operand, tile,
                           {slice.begin, slice.begin + slice.columns});
    }
  });
  const bool is_done = e.operand.data == nullptr || MakesOperandOfSlices(e);
  if (!e.gated && e.norm == nullptr && is_done) return;
  const OpTimer timer({.name = "epilogue", .rows = rows});
  team.Run([&](int member) {
    const Range share = Share(rows, member, team.size());
    for (int first = share.begin; first < share.end; first += kAppliedRows) {
      const int end = std::min(share.end, first + kAppliedRows);
      for (int i = first; e.gated && i < end; ++i) {
        GateSlices(call, tile, tile.begin + i, dst.row(i));
      }
      Finish(call, {tile.begin + first, tile.begin + end}, dst.row(first));
    }
  });
}

void MatMul::Impl::RunRows(Call& call, int member, Range rows) const {
  float* const result = call.context.scratch(member).data();
  const Epilogue& e = call.epilogue;
  // If nobody reads dst, the same few rows, in L1, serve for all rows.
  float* const few = result + static_cast<size_t>(TileRows()) * n;
  const int width = call.dst.cols;
  for (int first = rows.begin; first < rows.end; first += kTileRows) {
    const Range tile = {first, std::min(rows.end, first + kTileRows)};
    if (IsInSums(e)) {
      float* const dst = call.unwritten() ? result : call.dst.row(first);
      MultiplyAndAdd(call, whole, tile, dst);
      for (int r = tile.begin; r < tile.end; r += kAppliedRows) {
        Finish(call, {r, std::min(tile.end, r + kAppliedRows)},
               dst + static_cast<size_t>(r - first) * width);
      }
      continue;
    }
    Multiply(call, member, whole, tile, result);
    for (int r = tile.begin; r < tile.end; r += kAppliedRows) {
      const int end = std::min(tile.end, r + kAppliedRows);
      float* const dst = call.unwritten() ? few : call.dst.row(r);
      const Product product = {&whole, result + ptrdiff_t{r - first} * n};
      if (e.gated) {
        Gate(call, {r, end}, product, product, {0, width}, dst);
      } else {
        Apply(call, {r, end}, product, dst);
      }
      Finish(call, {r, end}, dst);
    }
  }
}

MatMul::MatMul(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MatMul::MatMul(MatMul&&) = default;
MatMul& MatMul::operator=(MatMul&&) = default;
MatMul::~MatMul() = default;

ComputeType MatMul::dtype() const { return impl_->dtype; }
int MatMul::in() const { return impl_->k; }
int MatMul::out() const { return impl_->n; }

absl::Status CheckComputeType(ComputeType dtype, Isa isa) {
  const Isa needed = dtype == ComputeType::kInt8   ? Isa::kAvx512Vnni
                     : dtype == ComputeType::kBf16 ? Isa::kAvx512
                                                   : Isa::kBaseline;
  if (isa >= needed) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("dtype is ", TypeName(dtype), ", which needs ",
                   IsaName(needed), "; available is ", IsaName(isa)));
}

absl::StatusOr<MatMul> MatMul::Create(Primitives& primitives, ComputeType dtype,
                                      const RowSource& weights, int max_rows,
                                      Range precise) try {
  ATTEND_CHECK(weights.rows() > 0 && weights.cols() > 0 && max_rows > 0);
  ATTEND_CHECK(0 <= precise.begin && precise.begin <= precise.end &&
               precise.end <= weights.rows());
  RETURN_IF_ERROR(CheckComputeType(dtype, primitives.isa()));
  auto impl =
      std::make_unique<Impl>(primitives, dtype, weights, max_rows, precise);
  RETURN_IF_ERROR(impl->weights.CheckRange());
  return MatMul(std::move(impl));
} catch (const dnnl::error& e) {
  return CreationError(dtype, weights, e);
}

absl::Status MatMul::Run(ExecContext& context, const Operand& src,
                         const Epilogue& epilogue, Matrix dst) const {
  const Impl& impl = *impl_;
  ATTEND_CHECK(src.dtype == impl.dtype);
  ATTEND_CHECK(src.rows == dst.rows && src.rows <= impl.max_rows);
  const int products = epilogue.gated ? 2 : 1;
  ATTEND_CHECK(src.cols == impl.k && products * dst.cols == impl.n);
  ATTEND_CHECK(!epilogue.gated || epilogue.residual == nullptr);
  if (const LowRank* low = epilogue.low_rank) {
    ATTEND_CHECK(static_cast<int>(low->choices.size()) == src.rows &&
                 low->left.rows == src.rows);
  }
  Call call{.context = context, .src = src, .epilogue = epilogue, .dst = dst};
  Team& team = context.team();
  const OpTimer timer({.name = "matmul", .rows = src.rows, .columns = impl.n});
  if (team.size() > 1 && src.rows < kRowsWorthAShare * team.size() &&
      impl.slices.size() == static_cast<size_t>(team.size())) {
    for (int first = 0; first < src.rows; first += kTileRows) {
      impl.RunSliced(call, {first, std::min(src.rows, first + kTileRows)});
    }
  } else {
    team.Run([&](int member) {
      impl.RunRows(call, member, Share(src.rows, member, team.size()));
    });
  }
  return RunStatus(call.error, src.rows, impl.k, impl.n);
}

}  // namespace attend
