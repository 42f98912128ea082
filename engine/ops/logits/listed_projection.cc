#include "engine/ops/logits/listed_projection.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "engine/ops/matmul/epilogue_kernel.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Tokens whose products a member computes at a time.
constexpr int kPart = 128;
// Answering fewer rows than this takes less time than waking the team.
constexpr int kAnsweredAlone = 8;
// Rows of weights that a member reads at a time.
constexpr int kReadRows = 64;
// Weights begin at a cache line wherever a row is that long.
constexpr size_t kLineBytes = 64;

// What a row of weights is an operand of. Its codes have 8 bits.
ComputeType WeightType(ComputeType dtype) {
  return dtype == ComputeType::kW8 ? ComputeType::kInt4 : dtype;
}

// The bytes from row to row.
size_t RowBytes(ComputeType dtype, int hidden) {
  const size_t bytes = OperandBytes(WeightType(dtype), hidden);
  if (bytes < kLineBytes) return bytes;
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// The logits of listed tokens at the front of `row` become those of all tokens.
// `listed` ascends: no place is written before the logit there was moved.
void Spread(absl::Span<const int> listed, absl::Span<float> row) {
  size_t end = row.size();
  for (size_t i = listed.size(); i-- > 0;) {
    const float logit = row[i];
    std::fill(row.begin() + listed[i], row.begin() + end,
              -std::numeric_limits<float>::infinity());
    row[listed[i]] = logit;
    end = listed[i];
  }
  std::fill_n(row.begin(), end, -std::numeric_limits<float>::infinity());
}

// Fills `out` from `count` on as the order of tokens has it: the tokens that
// are not listed, the lowest id first.
void AddUnlisted(absl::Span<const int> listed, size_t count,
                 absl::Span<TokenScore> out) {
  auto next = listed.begin();
  for (int id = 0; count < out.size(); ++id) {
    if (next != listed.end() && *next == id) {
      ++next;
    } else {
      out[count++] = {id, -std::numeric_limits<float>::infinity()};
    }
  }
}

bool SameList(const LogitsNeed& a, const LogitsNeed& b) {
  return a.listed.data() == b.listed.data() &&
         a.listed.size() == b.listed.size();
}

}  // namespace

struct ListedProjection::Call {
  const Operand& src;
  absl::Span<const LogitsNeed> needs;
  LogitsBuffer& dst;
};

ListedProjection::ListedProjection(Primitives& primitives, ComputeType dtype,
                                   const RowSource& weights,
                                   absl::Span<const float> bias, float softcap)
    : dtype_(dtype),
      vocab_(weights.rows()),
      hidden_(weights.cols()),
      softcap_(softcap),
      row_bytes_(RowBytes(dtype, hidden_)),
      kernels_(LogitsKernels::For(primitives.isa())),
      dot_(DotKernelFor(dtype, primitives.isa())),
      weights_(row_bytes_ * vocab_),
      bias_(bias.size()) {
  std::copy(bias.begin(), bias.end(), bias_.data());
  Pack(primitives.compute(), weights);
}

uint64_t ListedProjection::BytesFor(ComputeType dtype, int vocab, int hidden) {
  return uint64_t{RowBytes(dtype, hidden)} * vocab;
}

void ListedProjection::Pack(Compute& compute, const RowSource& weights) {
  const EpilogueKernels& kernels = EpilogueKernelsFor(compute.isa());
  std::vector<Buffer<float>> buffers(compute.packing_team().size());
  for (auto& buffer : buffers) {
    buffer = Buffer<float>(size_t{kReadRows} * hidden_);
  }
  std::atomic<int> next = 0;
  compute.packing_team().Run([&](int member) {
    for (int begin = next.fetch_add(kReadRows); begin < vocab_;
         begin = next.fetch_add(kReadRows)) {
      const int rows = std::min(kReadRows, vocab_ - begin);
      const Matrix floats = {buffers[member].data(), rows, hidden_};
      weights.Read(begin, floats);
      for (int r = 0; r < rows; ++r) {
        char* const row = weights_.data() + row_bytes_ * (begin + r);
        if (dtype_ == ComputeType::kInt8) {
          kernels.round_weights(floats.row(r), hidden_, row);
          continue;
        }
        kernels.make_operand(floats.row(r),
                             {.dtype = WeightType(dtype_),
                              .data = row,
                              .rows = 1,
                              .cols = hidden_},
                             {0, 1}, {0, hidden_});
      }
    }
  });
}

void ListedProjection::Multiply(const Call& call, int row, int part) const {
  const LogitsNeed& need = call.needs[row];
  const size_t begin = size_t{kPart} * part;
  if (begin >= need.listed.size()) return;
  const absl::Span<const int> listed = need.listed.subspan(begin, kPart);
  for (; row < call.src.rows && SameList(call.needs[row], need); ++row) {
    float* const logits = call.dst.row(row).data() + begin;
    dot_({.src = call.src.row(row),
          .weights = weights_.data(),
          .row_bytes = row_bytes_,
          .cols = hidden_,
          .ids = listed,
          .dst = logits});
    Finish(listed, logits);
  }
}

void ListedProjection::Finish(absl::Span<const int> listed,
                              float* logits) const {
  for (size_t i = 0; bias_.size() > 0 && i < listed.size(); ++i) {
    logits[i] += bias_[listed[i]];
  }
  if (softcap_ != 0) kernels_.cap({logits, listed.size()}, softcap_);
}

void ListedProjection::Answer(const Call& call, int row) const {
  const LogitsNeed& need = call.needs[row];
  LogitsBuffer::Entry& entry = call.dst.entry(row);
  entry = {};
  const absl::Span<float> all = call.dst.row(row);
  const absl::Span<const float> logits = all.first(need.listed.size());
  const bool keeps_top = need.top <= LogitsBuffer::kMaxTop;
  if (keeps_top) {
    const absl::Span<TokenScore> top(call.dst.top(row), need.top);
    const size_t count = std::min(top.size(), logits.size());
    Top(kernels_, logits, top.first(count));
    for (TokenScore& token : top.first(count)) {
      token.id = need.listed[token.id];
    }
    AddUnlisted(need.listed, count, top);
    entry.top = need.top;
    entry.row = NeedsRow(need, top);
  } else {
    entry.row = true;
  }
  // Of a row with tokens that are not listed, only this tells whether it is
  // finite.
  if (need.log_sum_exp || entry.row) {
    entry.log_sum_exp = LogSumExp(kernels_, logits);
  }
  if (entry.row) Spread(need.listed, all);
}

void ListedProjection::Run(ExecContext& context, const Operand& src,
                           absl::Span<const LogitsNeed> needs,
                           LogitsBuffer& dst) const {
  ATTEND_CHECK(src.dtype == dtype_ && src.cols == hidden_);
  ATTEND_CHECK(dst.vocab() == vocab_ && src.rows <= dst.max_rows());
  ATTEND_CHECK(needs.size() == static_cast<size_t>(src.rows));
  size_t longest = 0;
  for (const LogitsNeed& need : needs) {
    ATTEND_CHECK(need.listed.empty() || need.allowed == nullptr);
    longest = std::max(longest, need.listed.size());
  }
  const Call call = {.src = src, .needs = needs, .dst = dst};
  const int parts = static_cast<int>((longest + kPart - 1) / kPart);
  // The same parts of all lists come together: many of their tokens are the
  // same, and are in cache then.
  std::atomic<int> next = 0;
  context.team().Run([&](int) {
    for (int i = next++; i < parts * src.rows; i = next++) {
      const int row = i % src.rows;
      if (row > 0 && SameList(needs[row - 1], needs[row])) continue;
      Multiply(call, row, i / src.rows);
    }
  });
  next = 0;
  const auto answer = [&](int) {
    for (int row = next++; row < src.rows; row = next++) {
      if (!needs[row].listed.empty()) Answer(call, row);
    }
  };
  src.rows < kAnsweredAlone ? answer(0) : context.team().Run(answer);
}

}  // namespace attend
