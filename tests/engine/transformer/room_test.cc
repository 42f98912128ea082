// Steps with more rows than a layer has room for.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"
#include "engine/checkpoint/checkpoint.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/naive_transformer.h"
#include "tests/engine/transformer/slot_checkpoint.h"
#include "tests/engine/transformer/transformer_fixture.h"
#include "tests/engine/transformer/variants.h"

namespace attend {
namespace {

constexpr int kRows = 600;
constexpr int kFewRows = 100;

TransformerSpec DecoderOf(const Variant& variant) {
  TransformerSpec spec = SpecOf(variant);
  spec.encoder.reset();
  spec.decoder->embedding.max_positions = kRows;
  for (LayerSpec& layer : spec.decoder->layers) layer.cross_attention.reset();
  return spec;
}

// The rows of a step, with their lists.
struct Step {
  explicit Step(const KvLayout& kv_layout) : layout(kv_layout) {}

  void Add(BlockTable& table, absl::Span<const int> tokens) {
    const int rows = static_cast<int>(tokens.size());
    const int row = static_cast<int>(ids.size());
    const int token = table.PrepareAppend(rows);
    for (int i = 0; i < rows; ++i) {
      ids.push_back(tokens[i]);
      positions.push_back(token + i);
    }
    writes.push_back({.first_row = row,
                      .rows = rows,
                      .blocks = table.blocks(),
                      .first_token = token});
    pieces.push_back({.first_row = row,
                      .rows = rows,
                      .blocks = table.blocks(),
                      .keys = token + 1,
                      .causal = true,
                      .position = token});
  }
  DecodeRows View() const {
    return {.kv_layout = &layout,
            .ids = ids,
            .positions = positions,
            .writes = writes,
            .self_pieces = pieces,
            .cross_pieces = {}};
  }

  const KvLayout& layout;
  std::vector<int> ids, positions;
  std::vector<KvWrite> writes;
  std::vector<AttentionPiece> pieces;
};

// Buffers have other places in f32, and there matmuls need no operands.
ComputeType TypeOf(const Variant& variant, Isa isa) {
  const bool narrow =
      variant.Cycle(2) == 0 && CheckComputeType(ComputeType::kInt8, isa).ok();
  return narrow ? ComputeType::kInt8 : ComputeType::kF32;
}

class RoomTest : public testing::TestWithParam<Variant> {
 protected:
  RoomTest()
      : spec_(DecoderOf(GetParam())),
        compute_({.threads = 2}),
        dtype_(TypeOf(GetParam(), compute_.isa())),
        activations_(spec_, {dtype_, dtype_}, kRows, 2) {
    const SlotCheckpoint files(RandomWeights(spec_, 5, GetParam().biases()));
    const auto checkpoint = Checkpoint::Open(files.directory());
    Weights slots(*checkpoint, files.names());
    transformer_ = Transformer::Load(compute_, spec_, slots,
                                     {.dtype = dtype_, .max_rows = kRows})
                       .value();
    context_.emplace(compute_, transformer_->primitives());
    pool_.emplace(transformer_->decoder_kv_layout(KvType::kF32), 16 << 20);
  }

  // The hidden states [rows, hidden], as bytes.
  std::string Decode(const Step& step) {
    EXPECT_TRUE(
        transformer_->Decode(*context_, activations_, step.View()).ok());
    const Matrix x = activations_.x(step.View().range());
    return std::string(reinterpret_cast<const char*>(x.data),
                       sizeof(float) * x.rows * x.cols);
  }

  const TransformerSpec spec_;
  Compute compute_;
  const ComputeType dtype_;
  Activations activations_;
  std::unique_ptr<Transformer> transformer_;
  std::optional<ExecContext> context_;
  std::optional<BlockPool> pool_;
};

TEST_P(RoomTest, PromptsOfOneStepAreThoseOfManySteps) {
  ASSERT_LT(activations_.room_rows(), kRows / 2);
  const std::vector<int> ids = RandomIds(kRows, 29, 6);
  const absl::Span<const int> all = ids;
  const absl::Span<const int> prompts[] = {all.first(370), all.subspan(370)};
  Step step(pool_->layout());
  std::string expected;
  std::vector<std::unique_ptr<BlockTable>> tables;
  const auto new_table = [&]() -> BlockTable& {
    return *tables.emplace_back(std::make_unique<BlockTable>(*pool_, kRows));
  };
  for (const absl::Span<const int> prompt : prompts) {
    step.Add(new_table(), prompt);
    BlockTable& table = new_table();
    for (size_t done = 0; done < prompt.size(); done += kFewRows) {
      Step few(pool_->layout());
      few.Add(table, prompt.subspan(done, kFewRows));
      expected += Decode(few);
    }
  }
  EXPECT_TRUE(Decode(step) == expected);
}

// Each member takes a share of such rows through all layers.
TEST_P(RoomTest, HypothesesOfOneStepAreThoseOfManySteps) {
  const std::vector<int> ids = RandomIds(kRows, 29, 6);
  Step step(pool_->layout());
  std::string expected;
  std::vector<std::unique_ptr<BlockTable>> tables;
  for (int done = 0; done < kRows; done += kFewRows) {
    Step few(pool_->layout());
    for (int i = done; i < done + kFewRows; ++i) {
      for (Step* const to : {&few, &step}) {
        to->Add(*tables.emplace_back(std::make_unique<BlockTable>(*pool_, 16)),
                {&ids[i], 1});
      }
    }
    expected += Decode(few);
  }
  EXPECT_TRUE(Decode(step) == expected);
}

INSTANTIATE_TEST_SUITE_P(Variants, RoomTest, testing::ValuesIn(Variants()),
                         [](const auto& variant) {
                           return NameOf(variant.param);
                         });

}  // namespace
}  // namespace attend
