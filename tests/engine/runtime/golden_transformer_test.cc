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
#include "tests/engine/runtime/four_bit_source.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/rounded_table.h"

namespace attend {
namespace {

using nlohmann::json;

constexpr int kMaxRows = 96;
// The part of an error that is small enough for results to follow it in a line.
constexpr int kNearer = 8;

// Where the tokens of a source are in the table of positions, if not where they
// are in the source.
std::vector<int> TablePositions(const json& golden) {
  return golden.value("positions", std::vector<int>());
}

// A loaded transformer, and what it computes on.
struct Loaded {
  Loaded(Compute& compute, const Family& family, const TensorSource& source,
         ComputeType dtype) {
    Weights weights(source, family.names);
    transformer = Transformer::Load(compute, family.spec, weights,
                                    {.dtype = dtype, .max_rows = kMaxRows})
                      .value();
    context.emplace(compute, transformer->primitives());
    pool.emplace(transformer->decoder_kv_layout(KvType::kF32), 1 << 20);
    if (transformer->encodes()) {
      buffer.emplace(transformer->encoder_kv_layout(), kMaxRows,
                     family.spec.hidden, transformer->encoder_query_width());
    }
    activations.emplace(
        family.spec,
        Activations::Types{transformer->dtype(), transformer->logits_dtype()},
        kMaxRows, compute.team().size());
  }

  std::unique_ptr<Transformer> transformer;
  std::optional<ExecContext> context;
  std::optional<BlockPool> pool;
  std::optional<EncodeBuffer> buffer;
  std::optional<Activations> activations;
};

// What a case of expected.json encodes.
class Source {
 public:
  explicit Source(const json& golden)
      : tokens_(SourceOf(golden)),
        places_(TablePositions(golden)),
        state_({tokens_.ids, tokens_.positions, places_, tokens_.types}, 8) {}

  const EncodeState& state() const { return state_; }
  // Runs the whole source; its keys and values for the decoder go to `cross`.
  void Encode(Loaded& loaded, BlockTable& cross) {
    cross.PrepareAppend(state_.rows());
    state_.Start(*loaded.buffer);
    EncodePiece piece = {.state = &state_,
                         .cross_blocks = cross.blocks(),
                         .cross_layout = &loaded.pool->layout(),
                         .rows = state_.rows()};
    ASSERT_TRUE(loaded.transformer
                    ->Encode(*loaded.context, *loaded.activations,
                             absl::MakeSpan(&piece, 1))
                    .ok());
    ASSERT_TRUE(loaded.transformer->Encoded(state_));
  }

 private:
  const SourceTokens tokens_;
  const std::vector<int> places_;
  EncodeState state_;
};

using FloatRows = std::vector<std::vector<float>>;

// The rows of a case that expected.json has.
FloatRows Encoded(Loaded& loaded, const json& golden) {
  Source source(golden);
  BlockTable cross(*loaded.pool, kMaxRows);
  source.Encode(loaded, cross);
  const int width = loaded.transformer->spec().hidden;
  FloatRows rows;
  for (const int r : RowsOf(golden, source.state().rows())) {
    const float* const row = source.state().hidden(r, width);
    rows.emplace_back(row, row + width);
  }
  return rows;
}

FloatRows Logits(Loaded& loaded, const json& golden) {
  Source source(golden);
  const Transformer& transformer = *loaded.transformer;
  BlockTable cross(*loaded.pool, kMaxRows);
  if (transformer.encodes()) source.Encode(loaded, cross);

  const std::vector<int> target = golden["target"];
  const int rows = static_cast<int>(target.size());
  std::vector<int> positions(rows);
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<int> lengths(rows, rows);  // one pass over all
  BlockTable table(*loaded.pool, kMaxRows);
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
  EXPECT_TRUE(
      transformer
          .Decode(*loaded.context, *loaded.activations,
                  {.kv_layout = &loaded.pool->layout(),
                   .ids = target,
                   .positions = positions,
                   .lengths = lengths,
                   .writes = {&write, 1},
                   .self_pieces = {&self, 1},
                   .cross_pieces = {&to_source, size_t{transformer.encodes()}}})
          .ok());
  const std::vector<LogitsNeed> needs(rows, {.row = true});
  EXPECT_TRUE(
      transformer.Logits(*loaded.context, *loaded.activations, positions, needs)
          .ok());
  FloatRows logits;
  for (const int r : RowsOf(golden, rows)) {
    const auto row = loaded.activations->logits().view(r).Row();
    logits.emplace_back(row.begin(), row.end());
  }
  return logits;
}

template <typename Numbers>
double Distance(const std::vector<float>& found, const Numbers& expected) {
  double squares = 0;
  for (size_t j = 0; j < found.size(); ++j) {
    squares += (found[j] - expected[j]) * (found[j] - expected[j]);
  }
  return std::sqrt(squares);
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
    const auto family = LoadFamily(*config);
    ASSERT_TRUE(family.ok()) << family.status();
    const auto checkpoint = Checkpoint::Open(directory);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    if (dtype_ == ComputeType::kInt4) return LoadFourBits(*family, *checkpoint);
    loaded_.emplace(compute_, *family, *checkpoint, dtype_);
    const std::string table = TiedTable(*checkpoint, family->names);
    if (dtype_ != ComputeType::kInt8 || table.empty()) return;
    rounded_.emplace(compute_, *family, RoundedTable(*checkpoint, table),
                     ComputeType::kF32);
    nearer_.emplace(compute_, *family,
                    RoundedTable(*checkpoint, table, 1.0f / kNearer),
                    ComputeType::kF32);
  }

  // What 4 bits leave of the weights is more than what rounding operands leaves
  // of the results: compared is with f32's results from the same 4 bits.
  void LoadFourBits(const Family& family, const TensorSource& checkpoint) {
    const bool transposed = std::ranges::any_of(
        family.names.rows,
        [](const NameRow& row) { return row.slices.transposed; });
    if (transposed) GTEST_SKIP() << "blocks cannot be transposed";
    const FourBitSource source(checkpoint);
    loaded_.emplace(compute_, family, source, ComputeType::kInt4);
    rounded_.emplace(compute_, family, source, ComputeType::kF32);
  }

  // The tensor in which tokens are looked up and that computes the logits, or
  // "" if there is none.
  static std::string TiedTable(const TensorSource& source,
                               const NameTable& names) {
    const Weights weights(source, names);
    if (!weights.AreSame("logits.weight", "decoder.embedding.tokens")) {
      return "";
    }
    for (const NameRow& row : names.rows) {
      if (row.slot != "logits.weight") continue;
      for (const std::string& tensor : row.tensors) {
        if (source.Has(tensor)) return tensor;
      }
    }
    return "";
  }

  // f32 to the last digits, another dtype within RelativeBound(). In int8 rows
  // of a tied table are looked up as they are rounded for the logits: compared
  // is with f32's results from such a table. Those differ from the
  // table's own as far as the model carries such errors: kNearer times as far
  // as where the table is moved by that part of them.
  template <typename Compute>
  void Expect(const json& golden, const json& expected, Compute compute) {
    const FloatRows found = compute(*loaded_, golden);
    const FloatRows rounded =
        rounded_ ? compute(*rounded_, golden) : FloatRows();
    const FloatRows nearer = nearer_ ? compute(*nearer_, golden) : FloatRows();
    const int hidden = loaded_->transformer->spec().hidden;
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const std::vector<double> row = expected[i];
      ASSERT_EQ(found[i].size(), row.size());
      const double length = Distance(std::vector<float>(row.size()), row);
      if (dtype_ == ComputeType::kF32) {
        ExpectNear(found[i], row);
      } else if (dtype_ == ComputeType::kInt4) {
        const std::vector<double> same(rounded[i].begin(), rounded[i].end());
        ExpectWithin(Distance(found[i], same) / length, 1);
      } else if (rounded_) {
        const double moved = Distance(rounded[i], row) / length;
        EXPECT_LT(moved, 1.5 * kNearer * Distance(nearer[i], row) / length);
        // A row that moves by more than one rounding explains (the table is
        // half of a matmul) does so with those of all matmuls.
        ExpectWithin(Distance(found[i], rounded[i]) / length,
                     std::max(1.0, moved / RelativeBound(dtype_, hidden, 0.5)));
      } else {
        ExpectWithin(Distance(found[i], row) / length, 1);
      }
    }
  }

  static void ExpectNear(const std::vector<float>& found,
                         const std::vector<double>& row) {
    for (size_t j = 0; j < row.size(); ++j) {
      ASSERT_NEAR(found[j], row[j], Tolerance(row[j]))
          << "column " << j
          << "; regenerate with: python tests/golden/make_golden.py";
    }
  }

  void ExpectWithin(double error, double sensitivity) const {
    const TransformerSpec& spec = loaded_->transformer->spec();
    double matmuls = 1;
    for (const auto& stack : {spec.encoder, spec.decoder}) {
      if (!stack) continue;
      for (const LayerSpec& layer : stack->layers) {
        // A gate is a matmul more.
        matmuls += 4 + (layer.cross_attention ? 3 : 0) +
                   (layer.feed_forward.gated ? 1 : 0);
      }
    }
    const double bound =
        sensitivity * RelativeBound(dtype_, spec.hidden, matmuls);
    ASSERT_LT(bound, 0.5);
    EXPECT_LT(error, bound);
    EXPECT_GT(error, 0) << "computed in f32?";
  }

  const ComputeType dtype_;
  const json expected_;
  Compute compute_;
  std::optional<Loaded> loaded_;
  std::optional<Loaded> rounded_;
  std::optional<Loaded> nearer_;
};

TEST_P(GoldenTransformerTest, EncodesWhatTransformersEncodes) {
  if (!loaded_->transformer->encodes()) return;
  ASSERT_FALSE(expected_["encoder"].empty());
  for (const json& golden : expected_["encoder"]) {
    Expect(golden, golden["hidden"], Encoded);
  }
}

TEST_P(GoldenTransformerTest, LogitsAreThoseOfTransformers) {
  ASSERT_FALSE(expected_["logits"].empty());
  for (const json& golden : expected_["logits"]) {
    Expect(golden, golden["logits"], Logits);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTransformerTest,
                         testing::Combine(testing::ValuesIn(GoldenModels()),
                                          testing::ValuesIn(kAllComputeTypes)),
                         [](const auto& test) {
                           return TestNameOf(std::get<0>(test.param)) + "_" +
                                  std::string(
                                      TypeName(std::get<1>(test.param)));
                         });

}  // namespace
}  // namespace attend
