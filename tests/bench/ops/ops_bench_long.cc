#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/tensor/buffer.h"
#include "tests/bench/engine/random_floats.h"
#include "tests/bench/ops/dnnl_rate.h"
#include "tests/bench/ops/ops_bench.h"

namespace attend {
namespace {

// Rows of a prompt that go together.
constexpr int kRows = 512;
constexpr int kTokens = KvLayout::kBlockTokens;
constexpr AttentionRules kRules = {.scale = 0.125f};

struct Shape {
  KvType kv_dtype;
  int kv_heads;
  int head_dim;
  int tokens;
};

// The keys and values of a prompt, random, in blocks in the order of a pool.
class PromptKv {
 public:
  PromptKv(Compute& compute, const Shape& prompt)
      : layout_(DecoderLayout(compute.isa(), {.layers = 1,
                                              .kv_heads = prompt.kv_heads,
                                              .head_dim = prompt.head_dim,
                                              .dtype = prompt.kv_dtype})),
        memory_(layout_.block_bytes() * (prompt.tokens / kTokens)) {
    for (int i = 0; i < prompt.tokens / kTokens; ++i) {
      blocks_.push_back(memory_.data() + i * layout_.block_bytes());
    }
    const int columns = prompt.kv_heads * prompt.head_dim;
    const Buffer<float> kv = RandomFloats(size_t{kRows} * 2 * columns, 1);
    for (int first = 0; first < prompt.tokens; first += kRows) {
      const std::vector<KvWrite> writes = {
          {.rows = kRows, .blocks = blocks_, .first_token = first}};
      WriteKv(compute, {.layout = &layout_,
                        .key = kv.data(),
                        .value = kv.data() + columns,
                        .stride = 2 * columns,
                        .writes = writes});
    }
  }
  const KvLayout& layout() const { return layout_; }
  const std::vector<std::byte*>& blocks() const { return blocks_; }

 private:
  KvLayout layout_;
  Buffer<std::byte> memory_;
  std::vector<std::byte*> blocks_;
};

// The seconds of causal attention of the prompt's rows from `first` on.
double SecondsOfRows(ExecContext& context, const PromptKv& kv, int first,
                     const Buffer<float>& query, Buffer<float>& dst) {
  const int columns = kHeads * kv.layout().head_dim;
  const std::vector<AttentionPiece> pieces = {{.rows = kRows,
                                               .blocks = kv.blocks(),
                                               .keys = first + 1,
                                               .causal = true,
                                               .position = first}};
  const absl::Time start = absl::Now();
  Attention(context, {.rules = &kRules,
                      .layout = &kv.layout(),
                      .heads = kHeads,
                      .query = query.data(),
                      .query_stride = columns,
                      .pieces = pieces,
                      .dst = {dst.data(), kRows, columns}});
  return absl::ToDoubleSeconds(absl::Now() - start);
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Products and sums of all heads for the rows from `first` on.
double FlopOfRows(const Shape& prompt, int first) {
  const double pairs = kRows * (first + 0.5 * (kRows + 1.0));
  return 4 * pairs * kHeads * prompt.head_dim;
}

// Each chunk is compared with matmuls right before and after it, since a
// machine that is shared is faster now than later; of some comparisons the
// median holds.
void LongPrompt(benchmark::State& state, const Setup& setup,
                const Shape& prompt) {
  const PromptKv kv(setup.compute, prompt);
  const Buffer<float> query =
      RandomFloats(size_t{kRows} * kHeads * prompt.head_dim, 1);
  Buffer<float> dst(query.size());
  DnnlAttention matmuls(setup.compute, prompt.head_dim);
  matmuls.FlopPerSecond();  // the first is slower
  const int chunks = prompt.tokens / kRows;
  std::vector<std::vector<double>> seconds(chunks), ratios(chunks);
  for (auto _ : state) {
    double before = matmuls.FlopPerSecond();
    for (int i = 0; i < chunks; ++i) {
      const double took =
          SecondsOfRows(setup.attention, kv, i * kRows, query, dst);
      const double after = matmuls.FlopPerSecond();
      seconds[i].push_back(took);
      ratios[i].push_back(took * (before + after) / 2 /
                          FlopOfRows(prompt, i * kRows));
      before = after;
    }
  }
  double all_seconds = 0, all_flop = 0, all_times = 0;
  for (int i = 0; i < chunks; ++i) {
    const double flop = FlopOfRows(prompt, i * kRows);
    all_flop += flop;
    all_seconds += Median(seconds[i]);
    all_times += flop * Median(ratios[i]);
  }
  state.counters["gflop_per_second"] = all_flop / all_seconds * 1e-9;
  state.counters["times_matmuls"] = all_times / all_flop;
}

}  // namespace

void RegisterLongPrompts(const Setup& setup) {
  for (const KvType kv_dtype : {KvType::kF32, KvType::kBf16}) {
    for (const int head_dim : {64, 128}) {
      for (const int kv_heads : {8, 2}) {
        for (const int tokens : {4096, 8192, 16384, 32768}) {
          const Shape prompt = {kv_dtype, kv_heads, head_dim, tokens};
          Register(
              absl::StrFormat("attention/causal/%s/%dx%d/%d",
                              TypeName(kv_dtype), kv_heads, head_dim, tokens),
              [&setup, prompt](benchmark::State& state) {
                LongPrompt(state, setup, prompt);
              });
        }
      }
    }
  }
}

}  // namespace attend
