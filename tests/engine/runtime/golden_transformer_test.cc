// Encoder outputs and teacher-forced logits of the golden checkpoints.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/weights.h"
#include "engine/families/load_family.h"
#include "engine/json/json_file.h"
#include "engine/ops/matmul/matmul.h"
#include "engine/transformer/transformer.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/test_isa.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using nlohmann::json;

constexpr int kMaxRows = 96;

// Where the tokens of a source are in the table of positions, if not where they
// are in the source.
std::vector<int> TablePositions(const json& golden) {
  return golden.value("positions", std::vector<int>());
}

class GoldenTransformerTest
    : public testing::TestWithParam<std::tuple<std::string, ComputeType>> {
 protected:
  GoldenTransformerTest()
      : dtype_(std::get<1>(GetParam())),
        expected_(ReadGolden(std::get<0>(GetParam()) + "/expected.json")),
        compute_({.threads = 1, .max_isa = TestIsa()}) {}

  void SetUp() override {
    if (!CheckComputeType(dtype_, TestIsa()).ok()) {
      GTEST_SKIP() << "no " << TypeName(dtype_) << " on this machine";
    }
    const std::string directory = GoldenDirectory(std::get<0>(GetParam()));
    const auto config = JsonFile::Load(directory + "/config.json");
    auto family = LoadFamily(*config);
    EXPECT_TRUE(family.ok()) << family.status();
    const auto checkpoint = Checkpoint::Open(directory);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
    Weights weights(*checkpoint, family->names);
    auto transformer =
        Transformer::Load(compute_, family->spec, weights, dtype_, kMaxRows);
    ASSERT_TRUE(transformer.ok()) << transformer.status();
    transformer_ = *std::move(transformer);
    context_.emplace(compute_, transformer_->primitives());
    pool_.emplace(transformer_->decoder_kv_layout(KvType::kF32), 1 << 20);
    if (transformer_->encodes()) {
      buffer_.emplace(transformer_->encoder_kv_layout(), kMaxRows,
                      transformer_->spec().hidden,
                      transformer_->encoder_query_width());
    }
    activations_.emplace(transformer_->spec(), dtype_, kMaxRows,
                         compute_.team().size());
  }

  // Runs the whole source; its keys and values for the decoder go to `cross`.
  void Encode(EncodeState& state, BlockTable& cross) {
    cross.PrepareAppend(state.rows());
    state.Start(*buffer_);
    EncodePiece piece = {.state = &state,
                         .cross_blocks = cross.blocks(),
                         .cross_layout = &pool_->layout(),
                         .rows = state.rows()};
    ASSERT_TRUE(
        transformer_
            ->Encode(*context_, *activations_, absl::MakeSpan(&piece, 1))
            .ok());
    ASSERT_TRUE(transformer_->Encoded(state));
  }

  // f32 to the last digits, another dtype within RelativeBound().
  void ExpectRow(const json& expected, const float* found) const {
    const std::vector<double> row = expected;
    if (dtype_ == ComputeType::kF32) {
      for (size_t j = 0; j < row.size(); ++j) {
        ASSERT_NEAR(found[j], row[j], Tolerance(row[j]))
            << "column " << j
            << "; regenerate with: python tests/golden/make_golden.py";
      }
      return;
    }
    double error = 0;
    double length = 0;
    for (size_t j = 0; j < row.size(); ++j) {
      error += (found[j] - row[j]) * (found[j] - row[j]);
      length += row[j] * row[j];
    }
    const TransformerSpec& spec = transformer_->spec();
    double matmuls = 1;
    for (const auto& stack : {spec.encoder, spec.decoder}) {
      if (!stack) continue;
      for (const LayerSpec& layer : stack->layers) {
        // A gate is a matmul more.
        matmuls += 4 + (layer.cross_attention ? 3 : 0) +
                   (layer.feed_forward.gated ? 1 : 0);
      }
    }
    const double bound = RelativeBound(dtype_, matmuls);
    ASSERT_LT(bound, 0.5);
    EXPECT_LT(std::sqrt(error), bound * std::sqrt(length));
    EXPECT_GT(error, 0) << "computed in f32?";
  }

  const ComputeType dtype_;
  const json expected_;
  Compute compute_;
  std::unique_ptr<Transformer> transformer_;
  std::optional<ExecContext> context_;
  std::optional<BlockPool> pool_;
  std::optional<EncodeBuffer> buffer_;
  std::optional<Activations> activations_;
};

TEST_P(GoldenTransformerTest, EncodesWhatTransformersEncodes) {
  if (!transformer_->encodes()) return;
  ASSERT_FALSE(expected_["encoder"].empty());
  for (const json& golden : expected_["encoder"]) {
    const SourceTokens source = SourceOf(golden);
    const std::vector<int> places = TablePositions(golden);
    EncodeState state({source.ids, source.positions, places, source.types}, 8);
    BlockTable cross(*pool_, kMaxRows);
    Encode(state, cross);
    const std::vector<int> rows = RowsOf(golden, state.rows());
    ASSERT_EQ(rows.size(), golden["hidden"].size());
    for (size_t i = 0; i < rows.size(); ++i) {
      ExpectRow(golden["hidden"][i],
                state.hidden(rows[i], transformer_->spec().hidden));
    }
  }
}

TEST_P(GoldenTransformerTest, LogitsAreThoseOfTransformers) {
  ASSERT_FALSE(expected_["logits"].empty());
  for (const json& golden : expected_["logits"]) {
    const SourceTokens source = SourceOf(golden);
    const std::vector<int> places = TablePositions(golden);
    EncodeState state({source.ids, source.positions, places, source.types}, 8);
    BlockTable cross(*pool_, kMaxRows);
    if (transformer_->encodes()) Encode(state, cross);

    const std::vector<int> target = golden["target"];
    const int rows = static_cast<int>(target.size());
    std::vector<int> positions(rows);
    std::iota(positions.begin(), positions.end(), 0);
    const std::vector<int> lengths(rows, rows);  // one pass over all
    BlockTable table(*pool_, kMaxRows);
    table.PrepareAppend(rows);
    const KvWrite write = {
        .first_row = 0, .rows = rows, .blocks = table.blocks()};
    const AttentionPiece self = {.first_row = 0,
                                 .rows = rows,
                                 .blocks = table.blocks(),
                                 .keys = 1,
                                 .causal = true};
    const AttentionPiece to_source = {.first_row = 0,
                                      .rows = rows,
                                      .blocks = cross.blocks(),
                                      .keys = cross.tokens(),
                                      .causal = false};
    ASSERT_TRUE(
        transformer_
            ->Decode(
                *context_, *activations_,
                {.kv_layout = &pool_->layout(),
                 .ids = target,
                 .positions = positions,
                 .lengths = lengths,
                 .writes = {&write, 1},
                 .self_pieces = {&self, 1},
                 .cross_pieces = {&to_source, size_t{transformer_->encodes()}}})
            .ok());
    const std::vector<LogitsNeed> needs(rows, {.row = true});
    ASSERT_TRUE(
        transformer_->Logits(*context_, *activations_, positions, needs).ok());
    const std::vector<int> given = RowsOf(golden, rows);
    ASSERT_EQ(given.size(), golden["logits"].size());
    for (size_t i = 0; i < given.size(); ++i) {
      ExpectRow(golden["logits"][i],
                activations_->logits().view(given[i]).Row().data());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTransformerTest,
                         testing::Combine(testing::ValuesIn(GoldenModels()),
                                          testing::Values(ComputeType::kF32,
                                                          ComputeType::kBf16,
                                                          ComputeType::kInt8)),
                         [](const auto& test) {
                           return TestNameOf(std::get<0>(test.param)) + "_" +
                                  std::string(
                                      TypeName(std::get<1>(test.param)));
                         });

}  // namespace
}  // namespace attend
