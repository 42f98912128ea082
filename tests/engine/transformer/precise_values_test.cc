// In int8 the weights of values that heads share are precise.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/ops/matmul/matmul.h"
#include "engine/transformer/spec.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/transformer_outputs.h"

namespace attend {
namespace {

constexpr int kHidden = 64;
constexpr int kHeads = 4;

TransformerSpec DecoderOf(int kv_heads) {
  const LayerSpec layer = {
      .norm = {.kind = NormKind::kRmsNorm, .epsilon = 1e-6f},
      .norm_place = NormPlace::kPre,
      .self_attention = {.heads = kHeads,
                         .kv_heads = kv_heads,
                         .head_dim = 64,
                         .scale = 0.1f},
      .cross_attention = std::nullopt,
      .feed_forward = {.width = 64, .activation = Activation::kSilu}};
  TransformerSpec spec;
  spec.hidden = kHidden;
  spec.decoder = {.embedding = {.vocab = 29,
                                .width = kHidden,
                                .positions = Positions::kNone,
                                .max_positions = 64},
                  .layers = {layer}};
  return spec;
}

// How far the logits in int8 are from those in f32, against the length of the
// latter. In rows [begin, end) of the weights of `slot` there is a large number
// in a column that no token has anything in: it changes nothing but the levels
// of its row.
double LossOf(int kv_heads, const std::string& slot, int begin, int end) {
  const TransformerSpec spec = DecoderOf(kv_heads);
  TensorsBySlot weights = RandomWeights(spec, 3, /*biases=*/false);
  std::vector<float>& tokens = weights["decoder.embedding.tokens"].values;
  for (size_t i = 0; i < tokens.size(); ++i) {
    // Token t is number t alone: it has the same magnitude in all numbers of
    // its spread row, and loses nothing.
    tokens[i] = i % kHidden == i / kHidden ? 1 : 0;
  }
  for (float& scale : weights["decoder.0.self.norm.weight"].values) scale = 1;
  for (int row = begin; row < end; ++row) {
    weights[slot].values[row * kHidden + kHidden - 1] = 100;
  }
  Compute compute({.threads = 1});
  const Rows exact = EngineOutputs(compute, spec, weights).at("logits");
  const Rows rounded =
      EngineOutputs(compute, spec, weights, ComputeType::kInt8).at("logits");
  double squares = 0;
  double errors = 0;
  for (size_t r = 0; r < exact.size(); ++r) {
    for (size_t i = 0; i < exact[r].size(); ++i) {
      squares += exact[r][i] * exact[r][i];
      errors += std::pow(rounded[r][i] - exact[r][i], 2);
    }
  }
  return std::sqrt(errors / squares);
}

TEST(PreciseValuesTest, AreThoseThatHeadsShare) {
  if (!CheckComputeType(ComputeType::kInt8, Compute({.threads = 1}).isa())
           .ok()) {
    GTEST_SKIP() << "no int8";
  }
  const std::string values = "decoder.0.self.v.weight";
  // The first values and the last of two heads; then of one of four heads.
  const double none = LossOf(2, values, 0, 0);
  EXPECT_LT(LossOf(2, values, 0, 64), 1.5 * none);
  EXPECT_LT(LossOf(2, values, 64, 128), 1.5 * none);
  EXPECT_GT(LossOf(kHeads, values, 0, 64), 1.5 * LossOf(kHeads, values, 0, 0));
}

}  // namespace
}  // namespace attend
