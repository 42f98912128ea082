#include "engine/ops/matmul.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/ops/dnnl_matmul.h"
#include "engine/ops/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Up to here each member computes its slice of N for all rows, above its share
// of the rows for all of N. For few rows reading the weights is the cost, and
// a slice is read by one member only.
constexpr int kMaxSlicedRows = 64;

// Columns [begin, begin + columns) of the result.
struct Slice {
  int begin = 0;
  int columns = 0;
  const DnnlShape* shape = nullptr;
  dnnl::memory weights;
};

// One call of Run().
struct Call {
  ConstMatrix src;
  const Epilogue& epilogue;
  Matrix dst;
  // The first error of any member.
  std::atomic<int> error = dnnl_success;
};

}  // namespace

struct MatMul::Impl {
  Impl(Compute& owner, ConstMatrix matrix, int most_rows);

  Slice MakeSlice(int begin, int end) {
    return {begin, end - begin,
            &context->Shape(weights.packed(), k, end - begin,
                            std::min(max_rows, kTileRows)),
            weights.Columns(begin, end)};
  }

  // Rows [first, first + rows), at most a tile.
  void RunSliced(Call& call, int first, int rows) const;
  // One member's rows [rows.begin, rows.end).
  void RunRows(Call& call, int member, Range rows) const;
  // `rows` rows at `src` to a dense [rows, slice.columns].
  void Multiply(Call& call, int member, const Slice& slice, Range rows,
                float* dst) const;
  // The epilogue of one row's columns but for the normalisation.
  void Apply(const Call& call, int row, const Slice& slice,
             const float* src) const;
  void Normalize(const Call& call, int row) const;

  Compute& compute;
  const std::shared_ptr<DnnlContext> context;
  const int k;
  const int n;
  const int max_rows;
  DnnlWeights weights;
  const EpilogueKernels& kernels;
  Slice whole;
  std::vector<Slice> slices;  // [members]; empty if N is too narrow
};

MatMul::Impl::Impl(Compute& owner, ConstMatrix matrix, int most_rows)
    : compute(owner),
      context(DnnlContext::Of(owner)),
      k(matrix.cols),
      n(matrix.rows),
      max_rows(most_rows),
      weights(context->engine(), matrix),
      kernels(EpilogueKernelsFor(owner.isa())) {
  whole = MakeSlice(0, n);
  const int members = compute.team().size();
  int widest = n;
  if (members > 1 && n >= members * kBlockColumns) {
    widest = 0;
    for (int member = 0; member < members; ++member) {
      const Range share = Share(n, member, members, kBlockColumns);
      slices.push_back(MakeSlice(share.begin, share.end));
      widest = std::max(widest, share.end - share.begin);
    }
  }
  const size_t tile = std::min(max_rows, kTileRows);
  compute.ReserveScratch(std::max<size_t>(tile * widest, n));
}

void MatMul::Impl::Multiply(Call& call, int member, const Slice& slice,
                            Range rows, float* dst) const {
  const dnnl_status_t status =
      slice.shape->Run(member, rows.end - rows.begin, call.src.row(rows.begin),
                       slice.weights, dst);
  if (status != dnnl_success) call.error = status;
}

void MatMul::Impl::Apply(const Call& call, int row, const Slice& slice,
                         const float* src) const {
  const Epilogue& e = call.epilogue;
  if (src == call.dst.row(row) && e.bias == nullptr && e.residual == nullptr &&
      e.activation == Activation::kNone) {
    return;  // it is there already
  }
  const size_t at = static_cast<size_t>(row) * n + slice.begin;
  kernels.apply({.src = src,
                 .bias = e.bias == nullptr ? nullptr : e.bias + slice.begin,
                 .residual = e.residual == nullptr ? nullptr : e.residual + at,
                 .dst = call.dst.data + at,
                 .columns = slice.columns},
                e.activation);
}

void MatMul::Impl::Normalize(const Call& call, int row) const {
  if (call.epilogue.norm == nullptr) return;
  float* const data = call.dst.row(row);
  kernels.normalize(data, *call.epilogue.norm, n, data);
}

void MatMul::Impl::RunSliced(Call& call, int first, int rows) const {
  Team& team = compute.team();
  // Strided results would send oneDNN to its unpacked kernels: each member's
  // slice is dense, in its scratch.
  team.Run([&](int member) {
    const Slice& slice = slices[member];
    float* const result = compute.scratch(member).data();
    Multiply(call, member, slice, {first, first + rows}, result);
    for (int r = 0; r < rows; ++r) {
      Apply(call, first + r, slice, result + r * slice.columns);
    }
  });
  if (call.epilogue.norm == nullptr) return;
  team.Run([&](int member) {
    const Range share = Share(rows, member, team.size());
    for (int r = share.begin; r < share.end; ++r) Normalize(call, first + r);
  });
}

void MatMul::Impl::RunRows(Call& call, int member, Range rows) const {
  // A residual that lies in dst must outlive the multiplication.
  const bool in_place = call.epilogue.residual != call.dst.data;
  const absl::Span<float> scratch = compute.scratch(member);
  const int tile =
      in_place ? kTileRows
               : std::min<int>(kTileRows, static_cast<int>(scratch.size() / n));
  for (int first = rows.begin; first < rows.end; first += tile) {
    const Range part = {first, std::min(rows.end, first + tile)};
    float* const result = in_place ? call.dst.row(first) : scratch.data();
    Multiply(call, member, whole, part, result);
    for (int r = part.begin; r < part.end; ++r) {
      Apply(call, r, whole, result + static_cast<size_t>(r - first) * n);
      Normalize(call, r);
    }
  }
}

MatMul::MatMul(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MatMul::MatMul(MatMul&&) = default;
MatMul& MatMul::operator=(MatMul&&) = default;
MatMul::~MatMul() = default;

int MatMul::in() const { return impl_->k; }
int MatMul::out() const { return impl_->n; }

absl::StatusOr<MatMul> MatMul::Create(Compute& compute, ConstMatrix weights,
                                      int max_rows) try {
  ATTEND_CHECK(weights.rows > 0 && weights.cols > 0 && max_rows > 0);
  return MatMul(std::make_unique<Impl>(compute, weights, max_rows));
} catch (const dnnl::error& e) {
  return absl::InternalError(
      absl::StrCat("onednn matmul with k = ", weights.cols,
                   ", n = ", weights.rows, ": ", e.what()));
}

absl::Status MatMul::Run(Compute& compute, ConstMatrix src,
                         const Epilogue& epilogue, Matrix dst) const {
  const Impl& impl = *impl_;
  ATTEND_CHECK(&compute == &impl.compute);
  ATTEND_CHECK(src.rows == dst.rows && src.rows <= impl.max_rows);
  ATTEND_CHECK(src.cols == impl.k && dst.cols == impl.n);
  Call call{.src = src, .epilogue = epilogue, .dst = dst};
  if (src.rows <= kMaxSlicedRows && !impl.slices.empty()) {
    for (int first = 0; first < src.rows; first += kTileRows) {
      impl.RunSliced(call, first, std::min(kTileRows, src.rows - first));
    }
  } else {
    Team& team = compute.team();
    team.Run([&](int member) {
      impl.RunRows(call, member, Share(src.rows, member, team.size()));
    });
  }
  if (call.error == dnnl_success) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("onednn matmul with k = ", impl.k, ", n = ", impl.n,
                   ", rows = ", src.rows, ": status ", call.error.load()));
}

}  // namespace attend
