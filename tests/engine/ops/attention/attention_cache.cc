#include "tests/engine/ops/attention/attention_cache.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/engine/ops/attention_context.h"

namespace attend {
namespace {

constexpr int kTokens = KvLayout::kBlockTokens;

KvLayout LayoutOf(const Compute& compute, const AttentionInputs& in,
                  KvType dtype, bool together) {
  KvLayout layout = {.layers = 2,
                     .kv_heads = in.shape.kv_heads,
                     .head_dim = in.shape.head_dim,
                     .dtype = dtype};
  if (!together) return DecoderLayout(compute.isa(), layout);
  layout.together = MostTogether(compute.isa(), layout);
  return layout;
}

}  // namespace

Blocks::Blocks(const KvLayout& layout, int count)
    : memory_(count * layout.block_bytes() / sizeof(float)) {
  std::fill(memory_.data(), memory_.data() + memory_.size(), std::nanf(""));
  for (int i = 0; i < count; ++i) {
    free_.push_back(reinterpret_cast<std::byte*>(memory_.data()) +
                    i * layout.block_bytes());
  }
  std::shuffle(free_.begin(), free_.end(), std::mt19937(7));
}

std::vector<std::byte*> Blocks::Take(int tokens) {
  const int n = (tokens + kTokens - 1) / kTokens;
  std::vector<std::byte*> blocks(free_.end() - n, free_.end());
  free_.resize(free_.size() - n);
  return blocks;
}

Cache::Cache(Compute& compute, const AttentionInputs& in,
             const std::vector<std::vector<int>>& kept, KvType dtype,
             bool together)
    : layout_(LayoutOf(compute, in, dtype, together)),
      pool_(layout_, static_cast<int>(kept.size()) *
                         ((in.shape.keys + kTokens - 1) / kTokens)) {
  std::vector<float> keys, values;
  std::vector<KvWrite> writes[2];
  for (const std::vector<int>& tokens : kept) {
    blocks_.push_back(pool_.Take(static_cast<int>(tokens.size())));
  }
  int row = 0;
  for (size_t b = 0; b < kept.size(); ++b) {
    for (int token : kept[b]) {
      const size_t at = (b * in.shape.keys + token) * in.kv_cols();
      keys.insert(keys.end(), &in.key[at], &in.key[at] + in.kv_cols());
      values.insert(values.end(), &in.value[at], &in.value[at] + in.kv_cols());
    }
    const int rows = static_cast<int>(kept[b].size());
    // In two pieces, the second not at a block's start.
    const int first = rows / 3;
    writes[0].push_back({row, first, blocks_[b], 0});
    writes[1].push_back({row + first, rows - first, blocks_[b], first});
    row += rows;
  }
  for (const std::vector<KvWrite>& piece : writes) {
    WriteKv(compute, {.layout = &layout_,
                      .layer = 1,
                      .key = keys.data(),
                      .value = values.data(),
                      .stride = in.kv_cols(),
                      .writes = piece});
  }
}

std::vector<int> FirstTokens(int n) {
  std::vector<int> tokens(n);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

std::vector<float> Attend(Compute& compute, const AttentionInputs& in,
                          const Cache& cache,
                          const std::vector<AttentionPiece>& pieces,
                          const AttentionRules& scores) {
  const int rows = static_cast<int>(in.query.size()) / in.query_cols();
  std::vector<float> dst(in.query.size(), 0.0f);
  for (const AttentionPiece& piece : pieces) {
    std::fill_n(&dst[size_t(piece.first_row) * in.query_cols()],
                size_t(piece.rows) * in.query_cols(), std::nanf(""));
  }
  AttentionRules rules = scores;
  rules.scale = in.scale();
  AttentionContext context(compute);
  Attention(context.get(), {.rules = &rules,
                            .layout = &cache.layout(),
                            .layer = 1,
                            .heads = in.shape.heads,
                            .query = in.query.data(),
                            .query_stride = in.query_cols(),
                            .pieces = pieces,
                            .dst = {dst.data(), rows, in.query_cols()}});
  return dst;
}

std::vector<float> Attend(Compute& compute, const AttentionInputs& in,
                          const Cache& cache,
                          const std::vector<AttentionPiece>& pieces,
                          const DistanceBias& bias, int window) {
  return Attend(compute, in, cache, pieces,
                AttentionRules{.bias = bias, .window = window});
}

std::unique_ptr<Compute> AttentionIsaTest::MakeCompute(int threads) const {
  return std::make_unique<Compute>(
      ComputeOptions{.threads = threads, .max_isa = GetParam()});
}

std::string NameOfIsa(const ::testing::TestParamInfo<Isa>& isa) {
  return std::string(IsaName(isa.param));
}

}  // namespace attend
