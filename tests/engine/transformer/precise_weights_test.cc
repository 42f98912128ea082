// Which weights are precise in int8.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/compute/compute.h"
#include "engine/compute/range.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/transformer/spec.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/transformer_outputs.h"

namespace attend {
namespace {

constexpr int kHidden = 64;
constexpr int kHeads = 4;
constexpr int kVocab = 2048;
// The last number of a vector: 0 in all tokens.
constexpr int kEmpty = kHidden - 1;

TransformerSpec DecoderOf(int kv_heads) {
  const LayerSpec layer = {
      .norm = {.kind = NormKind::kRmsNorm, .epsilon = 1e-6f},
      .norm_place = NormPlace::kPre,
      .self_attention = {.heads = kHeads,
                         .kv_heads = kv_heads,
                         .head_dim = 64,
                         .scale = 0.1f},
      .cross_attention = std::nullopt,
      .feed_forward = {
          .width = kHidden, .activation = Activation::kSilu, .gated = true}};
  TransformerSpec spec;
  spec.hidden = kHidden;
  spec.decoder = {.embedding = {.vocab = kVocab,
                                .width = kHidden,
                                .positions = Positions::kNone,
                                .max_positions = 64},
                  .layers = {layer}};
  return spec;
}

class PreciseWeightsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CheckComputeType(ComputeType::kInt8, compute_.isa()).ok()) {
      GTEST_SKIP() << "no int8";
    }
    UseDecoder(/*kv_heads=*/2);
  }

  void UseDecoder(int kv_heads) {
    spec_ = DecoderOf(kv_heads);
    weights_ = RandomWeights(spec_, 3, /*biases=*/false);
    // A token is one number alone: it has the same magnitude in all numbers of
    // its spread row, and loses nothing.
    std::vector<float>& tokens = weights_.at("decoder.embedding.tokens").values;
    for (size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = i % kHidden == i / kHidden % kEmpty ? 1 : 0;
    }
    std::ranges::fill(weights_.at("decoder.0.self.norm.weight").values, 1.0f);
  }

  float& Weight(const std::string& slot, int row, int column) {
    return weights_.at(slot).values[row * kHidden + column];
  }

  // How far the logits of `tokens` in int8 are from those in f32, against the
  // length of the latter.
  double Loss(Range tokens = {0, kVocab}) {
    const Rows exact = EngineOutputs(compute_, spec_, weights_).at("logits");
    const Rows rounded =
        EngineOutputs(compute_, spec_, weights_, ComputeType::kInt8)
            .at("logits");
    double squares = 0;
    double errors = 0;
    for (size_t r = 0; r < exact.size(); ++r) {
      for (int i = tokens.begin; i < tokens.end; ++i) {
        squares += exact[r][i] * exact[r][i];
        errors += std::pow(rounded[r][i] - exact[r][i], 2);
      }
    }
    return std::sqrt(errors / squares);
  }
  // The same with a large number in `rows` of a slot, in the column of a number
  // that is 0 in all rows: it changes nothing but the levels of its row.
  double LossWithWideLevels(const std::string& slot, Range rows,
                            Range tokens = {0, kVocab}) {
    const TensorsBySlot before = weights_;
    for (int row = rows.begin; row < rows.end; ++row) {
      Weight(slot, row, kEmpty) = 100;
    }
    const double loss = Loss(tokens);
    weights_ = before;
    return loss;
  }

  Compute compute_{{.threads = 1}};
  TransformerSpec spec_;
  TensorsBySlot weights_;
};

TEST_F(PreciseWeightsTest, AreThoseOfValuesThatHeadsShare) {
  const std::string values = "decoder.0.self.v.weight";
  // The first values and the last of two heads; then of one of four heads.
  const double none = Loss();
  EXPECT_LT(LossWithWideLevels(values, {0, 64}), 1.5 * none);
  EXPECT_LT(LossWithWideLevels(values, {64, 128}), 1.5 * none);
  UseDecoder(kHeads);
  EXPECT_GT(LossWithWideLevels(values, {0, 64}), 1.5 * Loss());
}

TEST_F(PreciseWeightsTest, AreThoseOfTheFirstTokens) {
  // The decoder's output is that of its embedding.
  for (const char* slot : {"self.out", "ffn.out"}) {
    std::ranges::fill(
        weights_.at("decoder.0." + std::string(slot) + ".weight").values, 0.0f);
  }
  const std::string logits = "logits.weight";
  constexpr Range kFirst = {0, kVocab / 16};
  constexpr Range kNext = {kVocab / 16, kVocab / 8};
  const double first = LossWithWideLevels(logits, kFirst, kFirst);
  EXPECT_GT(LossWithWideLevels(logits, kNext, kNext), 20 * first);

  EXPECT_EQ(PreciseTokens(spec_), kVocab / 16);
  spec_.encoder = spec_.decoder;
  EXPECT_EQ(PreciseTokens(spec_), 0);
}

TEST_F(PreciseWeightsTest, AreThoseBehindMassiveChannels) {
  std::ranges::fill(weights_.at("decoder.0.self.out.weight").values, 0.0f);
  const std::string gate = "decoder.0.ffn.gate.weight";
  const std::string value = "decoder.0.ffn.in.weight";
  // All channels but the first one read the number that is 0 in all tokens, so
  // that rows of channels lose nothing either. Their weights have length 1.
  for (const std::string& slot : {gate, value}) {
    for (int channel = 0; channel < kHidden; ++channel) {
      for (int i = 0; i < kHidden; ++i) {
        const float of_others = i == kEmpty ? 1 : 0;
        Weight(slot, channel, i) = channel == 0 ? 0.125f : of_others;
      }
    }
  }
  const auto loss_with = [&](float of_gate, float of_value) {
    Weight(gate, 5, kEmpty) = of_gate;
    Weight(value, 5, kEmpty) = of_value;
    return LossWithWideLevels("decoder.0.ffn.out.weight", {0, kHidden});
  };
  const double usual = loss_with(1, 1);
  EXPECT_LT(loss_with(3, 3), usual / 3);
  EXPECT_LT(loss_with(1, 9), usual / 3);
  EXPECT_GT(loss_with(2, 3), usual / 1.1);
}

}  // namespace
}  // namespace attend
