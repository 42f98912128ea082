#include "engine/ops/logits/projection.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "engine/compute/item_queue.h"
#include "engine/ops/logits/logits_kernel.h"
#include "engine/ops/matmul/dnnl_matmul.h"
#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// With at most kWideRows rows, a slice has kWideColumns columns: the cost is to
// read the weights, and few calls of oneDNN are best. With more rows a slice
// has the columns of one tile, so that the result stays in L2.
constexpr int kWideRows = 16;
constexpr int kWideColumns = 4 * kLogitsTile;
// There must be so many wide slices that all members end at about the same
// time.
constexpr int kWidePerMember = 8;
// Merging fewer rows than this takes less time than waking the team.
constexpr int kMergedAlone = 8;

// Rows whose logits are finished together, and then folded while they are in
// L1.
constexpr int kFinishedRows = 4;

// One call of Run().
struct Call {
  ExecContext& context;
  const Operand& src;
  absl::Span<const LogitsNeed> needs;
  LogitsBuffer& dst;
  std::atomic<int> next_row = 0;
  // The first error of any member.
  std::atomic<int> error = dnnl_success;
};

}  // namespace

struct Projection::Impl {
  Impl(Primitives& primitives, ComputeType number, const RowSource& matrix,
       Buffer<float> logits_bias, int most_rows, float logits_softcap,
       Range precise);

  std::vector<DnnlSlice> MakeSlices(Primitives& primitives, int columns,
                                    int rows);

  // The work of one member: computes and folds all rows, slice by slice, until
  // no slice is left.
  void RunSlices(Call& call, absl::Span<const DnnlSlice> slices,
                 ItemQueue& queue, int member) const;
  // Makes the logits [rows, slice.columns] of the result of a multiplication.
  // `logits` may be `result`.
  void Finish(int rows, const DnnlSlice& slice, const float* result,
              float* logits) const;
  void Fold(const Call& call, int member, int row, const DnnlSlice& slice,
            const float* logits) const;
  // Makes the answers about a row of what the members found.
  void Merge(const Call& call, int row) const;
  // Computes the whole row if the end of its list ties, see LogitsNeed.
  void AddRowIfTied(Call& call, int row) const;

  int tiles() const { return (n + kLogitsTile - 1) / kLogitsTile; }

  const int k;
  const int n;
  const int max_rows;
  const float softcap;  // 0: none
  const ComputeType dtype;
  const EpilogueKernels& epilogue;
  const LogitsKernels kernels;
  const std::shared_ptr<DnnlWeights> weights;
  const Buffer<float> bias;  // [n] or empty
  std::vector<DnnlSlice> narrow;
  std::vector<DnnlSlice> wide;  // empty if there would be too few slices
};

Projection::Impl::Impl(Primitives& primitives, ComputeType number,
                       const RowSource& matrix, Buffer<float> logits_bias,
                       int most_rows, float logits_softcap, Range precise)
    : k(matrix.cols()),
      n(matrix.rows()),
      max_rows(most_rows),
      softcap(logits_softcap),
      dtype(number),
      epilogue(EpilogueKernelsFor(primitives.isa())),
      kernels(LogitsKernels::For(primitives.isa())),
      weights(
          std::make_shared<DnnlWeights>(primitives, number, matrix, precise)),
      bias(std::move(logits_bias)) {
  narrow = MakeSlices(primitives, kLogitsTile, std::min(max_rows, kTileRows));
  const int members = primitives.compute().team().size();
  if (n >= kWideColumns * kWidePerMember * members) {
    wide = MakeSlices(primitives, kWideColumns, std::min(max_rows, kWideRows));
  }
  primitives.ReserveScratch(
      std::max(kTileRows * kLogitsTile, kWideRows * kWideColumns));
}

std::vector<DnnlSlice> Projection::Impl::MakeSlices(Primitives& primitives,
                                                    int columns, int rows) {
  std::vector<DnnlSlice> slices;
  for (int begin = 0; begin < n; begin += columns) {
    const int end = std::min(n, begin + columns);
    slices.push_back(weights->Slice(primitives, begin, end, rows));
  }
  return slices;
}

void Projection::Impl::RunSlices(Call& call, absl::Span<const DnnlSlice> slices,
                                 ItemQueue& queue, int member) const {
  for (int row = 0; row < call.src.rows; ++row) {
    call.dst.member_logits().Begin(member, row, call.dst.entry(row).top);
  }
  float* const result = call.context.scratch(member).data();
  for (int i; (i = queue.Take(member)) != ItemQueue::kNone;) {
    const DnnlSlice& slice = slices[i];
    for (int first = 0; first < call.src.rows; first += kTileRows) {
      const int rows = std::min(kTileRows, call.src.rows - first);
      const dnnl_status_t status = slice.Multiply(
          call.context.dnnl(member), rows, call.src.row(first), result);
      if (status != dnnl_success) call.error = status;
      for (int r = 0; r < rows; r += kFinishedRows) {
        const Range finished = {first + r,
                                first + std::min(rows, r + kFinishedRows)};
        float* const logits = result + static_cast<size_t>(r) * slice.columns;
        Finish(finished.end - finished.begin, slice, logits, logits);
        for (int row = finished.begin; row < finished.end; ++row) {
          Fold(call, member, row, slice,
               logits +
                   static_cast<size_t>(row - finished.begin) * slice.columns);
        }
      }
    }
  }
}

void Projection::Impl::Finish(int rows, const DnnlSlice& slice,
                              const float* result, float* logits) const {
  const ResultTile tile = {
      .src = result,
      .bias = bias.size() == 0 ? nullptr : bias.data() + slice.begin,
      .dst = logits,
      .columns = slice.columns,
      .rows = rows,
      .src_stride = slice.columns,
      .dst_stride = slice.columns};
  if (tile.bias != nullptr || logits != result) {
    epilogue.apply(tile, Activation::kNone);
  }
  if (softcap == 0) return;
  kernels.cap({logits, size_t(tile.rows) * tile.columns}, softcap);
}

void Projection::Impl::Fold(const Call& call, int member, int row,
                            const DnnlSlice& slice, const float* logits) const {
  const LogitsBuffer::Entry& wanted = call.dst.entry(row);
  if (wanted.row) {
    std::copy_n(logits, slice.columns, call.dst.row(row).data() + slice.begin);
  }
  if (wanted.top == 0 && !wanted.log_sum_exp) return;
  for (int c = 0; c < slice.columns; c += kLogitsTile) {
    const int begin = slice.begin + c;
    const absl::Span<const float> tile(
        logits + c, std::min(kLogitsTile, slice.columns - c));
    const float max = kernels.max(tile);
    if (wanted.log_sum_exp) {
      call.dst.member_logits().sum(begin / kLogitsTile, row) =
          SumTile(kernels, tile, max);
    }
    if (wanted.top == 0) continue;
    TopList& list = call.dst.member_logits().list(member, row);
    if (wanted.allowed == nullptr) {
      kernels.offer(tile, begin, max, list);
    } else {
      kernels.offer_allowed(tile, begin, wanted.allowed + begin / 32, list);
    }
  }
}

void Projection::Impl::Merge(const Call& call, int row) const {
  LogitsBuffer::Entry& found = call.dst.entry(row);
  MemberLogits& members = call.dst.member_logits();
  if (found.log_sum_exp) {
    float max = -std::numeric_limits<float>::infinity();
    for (int tile = 0; tile < tiles(); ++tile) {
      max = std::max(max, members.sum(tile, row).max);
    }
    TileSums total(max);
    for (int tile = 0; tile < tiles(); ++tile) {
      total.Add(members.sum(tile, row));
    }
    found.log_sum_exp = total.LogSumExp();
  }
  uint64_t ranks[TopList::kMaxTokens];
  TopList list(ranks, found.top);
  for (int member = 0; member < call.context.team().size(); ++member) {
    for (const uint64_t rank : members.list(member, row).ranks()) {
      list.Offer(rank);
    }
  }
  found.top = static_cast<int>(list.Copy(call.dst.top(row)));
}

void Projection::Impl::AddRowIfTied(Call& call, int row) const {
  LogitsBuffer::Entry& found = call.dst.entry(row);
  const absl::Span<const TokenScore> top(call.dst.top(row), found.top);
  if (!call.needs[row].listed.empty()) return;
  if (found.row || !NeedsRow(call.needs[row], top)) return;
  const absl::Span<float> logits = call.dst.row(row);
  Team& team = call.context.team();
  ItemQueue queue(team, static_cast<int>(narrow.size()));
  team.Run([&](int member) {
    for (int i; (i = queue.Take(member)) != ItemQueue::kNone;) {
      const DnnlSlice& slice = narrow[i];
      float* const result = call.context.scratch(member).data();
      const dnnl_status_t status = slice.Multiply(call.context.dnnl(member), 1,
                                                  call.src.row(row), result);
      if (status != dnnl_success) call.error = status;
      Finish(1, slice, result, logits.data() + slice.begin);
    }
  });
  found.row = true;
}

Projection::Projection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Projection::Projection(Projection&&) = default;
Projection& Projection::operator=(Projection&&) = default;
Projection::~Projection() = default;

ComputeType Projection::dtype() const { return impl_->dtype; }
int Projection::in() const { return impl_->k; }
int Projection::out() const { return impl_->n; }

std::shared_ptr<const RowSource> Projection::weights() const {
  return impl_->weights;
}

absl::StatusOr<Projection> Projection::Create(
    Primitives& primitives, ComputeType dtype, const RowSource& weights,
    Buffer<float> bias, int max_rows, float softcap, Range precise) try {
  ATTEND_CHECK(weights.rows() > 0 && weights.cols() > 0 && max_rows > 0);
  ATTEND_CHECK(softcap >= 0);
  ATTEND_CHECK(bias.size() == 0 ||
               bias.size() == static_cast<size_t>(weights.rows()));
  RETURN_IF_ERROR(CheckComputeType(dtype, primitives.isa()));
  auto impl = std::make_unique<Impl>(
      primitives, dtype, weights, std::move(bias), max_rows, softcap, precise);
  RETURN_IF_ERROR(impl->weights->CheckRange());
  return Projection(std::move(impl));
} catch (const dnnl::error& e) {
  return CreationError(dtype, weights, e);
}

absl::Status Projection::Run(ExecContext& context, const Operand& src,
                             absl::Span<const LogitsNeed> needs,
                             LogitsBuffer& dst) const {
  const Impl& impl = *impl_;
  ATTEND_CHECK(src.dtype == impl.dtype);
  ATTEND_CHECK(src.cols == impl.k && dst.vocab() == impl.n);
  ATTEND_CHECK(src.rows <= std::min(impl.max_rows, dst.max_rows()));
  ATTEND_CHECK(context.team().size() <= dst.member_logits().members());
  ATTEND_CHECK(needs.size() == static_cast<size_t>(src.rows));
  for (int row = 0; row < src.rows; ++row) {
    const LogitsNeed& need = needs[row];
    dst.entry(row) = {};
    if (!need.listed.empty()) continue;
    ATTEND_CHECK(need.top <= impl.n);
    ATTEND_CHECK(need.tie_margin == 0 || need.tie_margin < need.top);
    const bool listed = need.top <= LogitsBuffer::kMaxTop;
    dst.entry(row) = {.top = listed ? need.top : 0,
                      .allowed = need.allowed,
                      .log_sum_exp = std::nullopt,
                      .row = need.row || !listed};
    if (need.log_sum_exp) dst.entry(row).log_sum_exp = 0;
  }
  Call call{.context = context, .src = src, .needs = needs, .dst = dst};
  const bool use_wide = src.rows <= kWideRows && !impl.wide.empty();
  const std::vector<DnnlSlice>& slices = use_wide ? impl.wide : impl.narrow;
  Team& team = context.team();
  ItemQueue queue(team, static_cast<int>(slices.size()));
  team.Run([&](int member) { impl.RunSlices(call, slices, queue, member); });
  const auto merge = [&](int) {
    for (int row = call.next_row++; row < src.rows; row = call.next_row++) {
      impl.Merge(call, row);
    }
  };
  src.rows < kMergedAlone ? merge(0) : team.Run(merge);
  for (int row = 0; row < src.rows; ++row) impl.AddRowIfTied(call, row);
  return RunStatus(call.error, src.rows, impl.k, impl.n);
}

}  // namespace attend
