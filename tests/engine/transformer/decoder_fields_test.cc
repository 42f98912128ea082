// Decoders alone that differ from a plain one in a field or two of their spec,
// against the naive one.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "engine/cache/block_table.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/slot_checkpoint.h"
#include "tests/engine/transformer/transformer_fixture.h"

namespace attend {
namespace {

constexpr int kRows = 20;
constexpr int kGiven = 17;

struct Field {
  std::string name;
  std::function<void(TransformerSpec&)> set;
};

void PrintTo(const Field& field, std::ostream* out) { *out << field.name; }

std::function<void(TransformerSpec&)> OfLayers(
    std::function<void(LayerSpec&)> set) {
  return [set](TransformerSpec& spec) {
    for (LayerSpec& layer : spec.decoder->layers) set(layer);
  };
}

std::function<void(TransformerSpec&)> OfAttention(
    std::function<void(AttentionSpec&)> set) {
  return OfLayers([set](LayerSpec& layer) { set(layer.self_attention); });
}

RotarySpec PlainRotary() { return {RotaryFrequencies(100, 6), 1.2f}; }

std::function<void(TransformerSpec&)> LongRope(int original) {
  return OfAttention([original](AttentionSpec& attention) {
    attention.rotary = PlainRotary();
    attention.rotary->original_positions = original;
    attention.rotary->long_frequencies = {0.7f, 0.3f, 0.01f};
  });
}

std::function<void(TransformerSpec&)> DynamicRope(int original) {
  return OfAttention([original](AttentionSpec& attention) {
    attention.rotary = PlainRotary();
    attention.rotary->original_positions = original;
    attention.rotary->theta = 100;
    attention.rotary->factor = 4;
  });
}

std::vector<Field> Fields() {
  const NormSpec rms = {.kind = NormKind::kRmsNorm, .epsilon = 1e-5f};
  return {
      {"Plain", [](TransformerSpec&) {}},
      {"HeadNorm", OfAttention([rms](AttentionSpec& attention) {
         attention.head_norm = rms;
         attention.rotary = PlainRotary();
       })},
      {"BranchNorm",
       OfLayers([](LayerSpec& layer) { layer.branch_norm = true; })},
      {"Parallel", OfLayers([](LayerSpec& layer) { layer.parallel = true; })},
      {"Slopes", OfAttention([](AttentionSpec& attention) {
         attention.slopes = {0.5f, 0.1f, 0.03f, 0.9f};
       })},
      {"ScoreSoftcap",
       OfAttention([](AttentionSpec& attention) { attention.softcap = 0.8f; })},
      {"LogitsSoftcap", [](TransformerSpec& s) { s.logits_softcap = 1.5f; }},
      {"Clip",
       OfAttention([](AttentionSpec& attention) { attention.clip = 0.6f; })},
      {"UnitOffset", OfLayers([rms](LayerSpec& layer) {
         layer.norm = rms;
         layer.norm.unit_offset = true;
       })},
      {"Window",
       OfAttention([](AttentionSpec& attention) { attention.window = 4; })},
      {"LongRopeShort", LongRope(kRows)},
      {"LongRopeLong", LongRope(kRows - 1)},
      {"DynamicRopeShort", DynamicRope(kRows)},
      {"DynamicRopeGrown", DynamicRope(kGiven)},
      {"DynamicRopeLong", DynamicRope(9)},
      {"ProjectedTokens",
       [](TransformerSpec& spec) {
         EmbeddingSpec& embedding = spec.decoder->embedding;
         embedding.width = 14;
         embedding.projects_tokens = true;
         embedding.positions = Positions::kLearned;
         embedding.position_offset = 2;
         embedding.norm = NormSpec{};
         spec.logits_width = 14;
       }},
      {"ProjectedSum",
       [](TransformerSpec& spec) {
         spec.decoder->embedding.width = 14;
         spec.decoder->embedding.positions = Positions::kLearned;
       }},
  };
}

TransformerSpec SpecOf(const Field& field) {
  LayerSpec layer;
  layer.norm_place = NormPlace::kPre;
  layer.self_attention = {
      .heads = 4, .kv_heads = 2, .head_dim = 8, .scale = 0.4f};
  layer.feed_forward = {.width = 30, .activation = Activation::kGelu};
  TransformerSpec spec;
  spec.hidden = 24;
  StackSpec& decoder = spec.decoder.emplace();
  decoder.embedding = {.vocab = 29,
                       .width = spec.hidden,
                       .positions = Positions::kNone,
                       .max_positions = 64};
  decoder.layers.assign(2, layer);
  decoder.causal = true;
  field.set(spec);
  return spec;
}

class DecoderFieldsTest : public testing::TestWithParam<Field> {
 protected:
  DecoderFieldsTest()
      : spec_(SpecOf(GetParam())),
        weights_(RandomWeights(spec_, 3)),
        compute_({.threads = 2}),
        activations_(spec_, ComputeType::kF32, kRows, 2) {
    const SlotCheckpoint files(weights_);
    auto checkpoint = Checkpoint::Open(files.directory());
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
    Weights slots(*checkpoint, files.names());
    auto transformer =
        Transformer::Load(compute_, spec_, slots, ComputeType::kF32, kRows);
    EXPECT_TRUE(transformer.ok()) << transformer.status();
    EXPECT_TRUE(slots.CheckAllRead().ok());
    transformer_ = *std::move(transformer);
    context_.emplace(compute_, transformer_->primitives());
    pool_.emplace(transformer_->decoder_kv_layout(KvType::kF32), 1 << 20);
    table_.emplace(*pool_, 32);
  }

  // Logits of the next `rows` tokens.
  std::vector<std::vector<float>> Decode(absl::Span<const int> ids) {
    const int rows = static_cast<int>(ids.size());
    const int first = table_->PrepareAppend(rows);
    std::vector<int> positions, lengths, wanted;
    for (int i = 0; i < rows; ++i) {
      const int position = first + i;
      positions.push_back(position);
      lengths.push_back(LengthAt(position));
      wanted.push_back(i);
    }
    const KvWrite write = {.first_row = 0,
                           .rows = rows,
                           .blocks = table_->blocks(),
                           .first_token = first};
    const AttentionPiece piece = {.first_row = 0,
                                  .rows = rows,
                                  .blocks = table_->blocks(),
                                  .keys = first + 1,
                                  .causal = true,
                                  .position = first,
                                  .key_positions = {}};
    EXPECT_TRUE(transformer_
                    ->Decode(*context_, activations_,
                             {.kv_layout = &pool_->layout(),
                              .ids = ids,
                              .positions = positions,
                              .lengths = lengths,
                              .writes = {&write, 1},
                              .self_pieces = {&piece, 1},
                              .cross_pieces = {}})
                    .ok());
    const std::vector<LogitsNeed> needs(rows, {.row = true});
    EXPECT_TRUE(
        transformer_->Logits(*context_, activations_, wanted, needs).ok());
    std::vector<std::vector<float>> logits;
    for (int i = 0; i < rows; ++i) {
      const absl::Span<const float> row = activations_.logits().view(i).Row();
      logits.emplace_back(row.begin(), row.end());
    }
    return logits;
  }

  // All of a sequence that has kRows in the end, or as tokens came.
  int LengthAt(int position) const {
    const RotarySpec* const rotary = spec_.decoder->RotaryByLength();
    if (rotary != nullptr && rotary->of_whole()) return kRows;
    return position < kGiven ? kGiven : position + 1;
  }

  const TransformerSpec spec_;
  const TensorsBySlot weights_;
  Compute compute_;
  Activations activations_;
  std::unique_ptr<Transformer> transformer_;
  std::optional<ExecContext> context_;
  std::optional<BlockPool> pool_;
  std::optional<BlockTable> table_;
};

TEST_P(DecoderFieldsTest, LogitsAreThoseOfTheNaiveOne) {
  const std::vector<int> ids = RandomIds(kRows, 29, 6);
  const NaiveTransformer naive(spec_, weights_);
  const Rows expected = naive.Decode(ids, {}, CausalMask(1, 1, 1), kGiven);
  int done = 0;
  // What came with the request in two parts, then rows one by one.
  for (const int rows : {5, kGiven - 5, 1, 1, 1}) {
    const auto logits = Decode(absl::MakeConstSpan(ids).subspan(done, rows));
    for (int r = 0; r < rows; ++r) {
      SCOPED_TRACE(done + r);
      ExpectRow(expected[done + r], logits[r].data());
    }
    done += rows;
  }
  ASSERT_EQ(done, kRows);
}

// A field that changes nothing would be equal to a naive one that ignores it.
TEST_P(DecoderFieldsTest, TheFieldShows) {
  if (GetParam().name == "Plain") return;
  const TransformerSpec plain = SpecOf(Fields().front());
  const std::vector<int> ids = RandomIds(kRows, 29, 6);
  const TensorsBySlot other = RandomWeights(plain, 3);
  const Rows a = NaiveTransformer(plain, other)
                     .Decode(ids, {}, CausalMask(1, 1, 1), kGiven);
  const Rows b = NaiveTransformer(spec_, weights_)
                     .Decode(ids, {}, CausalMask(1, 1, 1), kGiven);
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) {
      most = std::max(most, std::abs(a[i][j] - b[i][j]));
    }
  }
  EXPECT_GT(most, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Fields, DecoderFieldsTest, testing::ValuesIn(Fields()),
                         [](const auto& field) { return field.param.name; });

}  // namespace
}  // namespace attend
