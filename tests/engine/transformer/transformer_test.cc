#include "engine/transformer/transformer.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"
#include "gtest/gtest.h"
#include "tests/engine/transformer/naive_transformer.h"

namespace attend {
namespace {

// f32 against f64: see the golden tests.
double Tolerance(double expected) { return 5e-5 * (1 + std::abs(expected)); }

// A safetensors directory with the slots as names, removed at the end.
class SlotCheckpoint {
 public:
  explicit SlotCheckpoint(const TensorsBySlot& tensors)
      : directory_(std::filesystem::temp_directory_path() /
                   ("attend_transformer_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
    nlohmann::json header;
    std::string data;
    for (const auto& [slot, tensor] : tensors) {
      const size_t begin = data.size();
      data.append(reinterpret_cast<const char*>(tensor.values.data()),
                  tensor.values.size() * sizeof(float));
      header[slot] = {{"dtype", "F32"},
                      {"shape", tensor.shape},
                      {"data_offsets", {begin, data.size()}}};
      names_.rows.push_back({.slot = slot, .tensors = {slot}});
    }
    const std::string text = header.dump();
    const uint64_t size = text.size();
    std::ofstream file(directory_ / "model.safetensors", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&size), sizeof(size));
    file << text << data;
  }
  ~SlotCheckpoint() { std::filesystem::remove_all(directory_); }

  std::string directory() const { return directory_; }
  const NameTable& names() const { return names_; }

 private:
  std::filesystem::path directory_;
  NameTable names_;
};

struct Shape {
  const char* name;
  NormPlace norm_place;
  Activation activation;
  int hidden, heads, kv_heads, head_dim, width, encoder_layers, decoder_layers;
  bool logits_bias;
};

TransformerSpec SpecOf(const Shape& shape) {
  const AttentionSpec attention = {
      .heads = shape.heads,
      .kv_heads = shape.kv_heads,
      .head_dim = shape.head_dim,
      .scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim))};
  LayerSpec layer = {
      .norm = {},
      .norm_place = shape.norm_place,
      .self_attention = attention,
      .cross_attention = std::nullopt,
      .feed_forward = {.width = shape.width, .activation = shape.activation}};
  const EmbeddingSpec source = {
      .vocab = 31, .width = shape.hidden, .scale = 2, .max_positions = 64};
  const EmbeddingSpec target = {
      .vocab = 29, .width = shape.hidden, .scale = 1, .max_positions = 64};
  TransformerSpec spec;
  spec.hidden = shape.hidden;
  spec.logits_bias = shape.logits_bias;
  spec.encoder =
      StackSpec{.embedding = source,
                .layers = std::vector<LayerSpec>(shape.encoder_layers, layer)};
  layer.cross_attention = attention;
  spec.decoder =
      StackSpec{.embedding = target,
                .layers = std::vector<LayerSpec>(shape.decoder_layers, layer)};
  return spec;
}

std::vector<int> RandomIds(int count, int vocab, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int> ids(count);
  for (int& id : ids) id = static_cast<int>(random() % vocab);
  return ids;
}

void ExpectRow(const std::vector<double>& expected, const float* found) {
  for (size_t j = 0; j < expected.size(); ++j) {
    ASSERT_NEAR(found[j], expected[j], Tolerance(expected[j]))
        << "column " << j;
  }
}

class TransformerTest : public testing::TestWithParam<Shape> {
 protected:
  static constexpr int kMaxRows = 32;

  TransformerTest()
      : spec_(SpecOf(GetParam())),
        weights_(RandomWeights(spec_, 5)),
        naive_(spec_, weights_),
        compute_({.threads = 2}),
        activations_(spec_, DType::kF32, kMaxRows, 2) {
    const SlotCheckpoint files(weights_);
    auto checkpoint = Checkpoint::Open(files.directory());
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
    Weights slots(*checkpoint, files.names());
    auto transformer =
        Transformer::Load(compute_, spec_, slots, DType::kF32, kMaxRows);
    EXPECT_TRUE(transformer.ok()) << transformer.status();
    EXPECT_TRUE(slots.CheckAllRead().ok());
    transformer_ = *std::move(transformer);
    compute_.ReserveScratch(transformer_->ScratchFloats());
    pool_.emplace(transformer_->decoder_kv_layout(DType::kF32), 1 << 20);
    buffer_.emplace(transformer_->encoder_kv_layout(), 256, spec_.hidden,
                    transformer_->encoder_query_width());
  }

  struct Source {
    std::vector<int> ids, positions;
    std::unique_ptr<EncodeState> state;
    std::unique_ptr<BlockTable> cross;
    std::vector<std::vector<float>> hidden;  // [rows, hidden] at the end
  };

  // Positions with mask 0 leave the ragged rows.
  Source NewSource(const std::vector<int>& padded,
                   const std::vector<int>& mask) {
    Source source;
    for (size_t i = 0; i < padded.size(); ++i) {
      if (!mask[i]) continue;
      source.ids.push_back(padded[i]);
      source.positions.push_back(static_cast<int>(i));
    }
    source.state = std::make_unique<EncodeState>(
        EncodeState::Tokens{source.ids, source.positions, {}}, 8);
    source.cross = std::make_unique<BlockTable>(*pool_, 64);
    source.cross->PrepareAppend(source.state->rows());
    source.state->Start(*buffer_);
    return source;
  }

  // The full blocks of keys and values for the decoder.
  std::vector<std::string> CrossBlocks(const Source& source) {
    std::vector<std::string> blocks;
    const KvLayout& layout = pool_->layout();
    for (int i = 0; i < source.cross->tokens() / layout.block_tokens; ++i) {
      blocks.emplace_back(
          reinterpret_cast<const char*>(source.cross->blocks()[i]),
          layout.block_bytes());
    }
    return blocks;
  }

  // Encodes all sources together, `rows` rows of each in a step.
  void Encode(std::vector<Source*> sources, int rows) {
    bool left = true;
    while (left) {
      left = false;
      std::vector<EncodePiece> pieces;
      for (Source* source : sources) {
        if (transformer_->Encoded(*source->state)) continue;
        left = true;
        pieces.push_back({.state = source->state.get(),
                          .cross_blocks = source->cross->blocks(),
                          .cross_layout = &pool_->layout(),
                          .rows = rows});
      }
      ASSERT_TRUE(
          transformer_->Encode(compute_, activations_, absl::MakeSpan(pieces))
              .ok());
    }
    for (Source* source : sources) {
      for (int r = 0; r < source->state->rows(); ++r) {
        const float* row = source->state->hidden(r, spec_.hidden);
        source->hidden.emplace_back(row, row + spec_.hidden);
      }
    }
  }

  const TransformerSpec spec_;
  const TensorsBySlot weights_;
  const NaiveTransformer naive_;
  Compute compute_;
  Activations activations_;
  std::unique_ptr<Transformer> transformer_;
  std::optional<BlockPool> pool_;
  std::optional<EncodeBuffer> buffer_;
};

TEST_P(TransformerTest, MaskedInputsAreThoseOfThePaddedComputation) {
  const std::vector<int> ids = RandomIds(21, 31, 1);
  for (const std::vector<int>& mask : std::vector<std::vector<int>>{
           std::vector<int>(21, 1),
           {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
           {0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}}) {
    Source source = NewSource(ids, mask);
    Encode({&source}, 1000);
    const std::vector<int32_t> token_mask(mask.begin(), mask.end());
    const Rows expected = naive_.Encode(ids, TokenMask(token_mask, 1, 21));
    ASSERT_EQ(source.hidden.size(), source.positions.size());
    for (size_t r = 0; r < source.hidden.size(); ++r) {
      ExpectRow(expected[source.positions[r]], source.hidden[r].data());
    }
  }
}

TEST_P(TransformerTest, AnEncodeInPiecesAndInCompanyHasTheSameBits) {
  const std::vector<int> ones(40, 1);
  Source alone = NewSource(RandomIds(40, 31, 2), ones);
  Encode({&alone}, 1000);
  for (int rows : {1, 3, 7, 39}) {
    Source again = NewSource(RandomIds(40, 31, 2), ones);
    Source other = NewSource(RandomIds(9, 31, 3), std::vector<int>(9, 1));
    Encode({&other, &again}, rows);
    EXPECT_EQ(again.hidden, alone.hidden) << rows << " rows a step";
  }
}

TEST_P(TransformerTest, SourcesSideBySideHaveTheSameBits) {
  // Lanes that hold their sources whole, or take them in parts, or several, or
  // none, since they would be uneven.
  for (const std::vector<int>& lengths : std::vector<std::vector<int>>{
           {16, 16}, {7, 17, 9}, {40, 39}, {30, 11, 12, 6}, {40, 5}}) {
    std::vector<Source> together;
    std::vector<Source*> pointers;
    together.reserve(lengths.size());
    for (size_t i = 0; i < lengths.size(); ++i) {
      together.push_back(NewSource(RandomIds(lengths[i], 31, 2 + i),
                                   std::vector<int>(lengths[i], 1)));
      pointers.push_back(&together.back());
    }
    Encode(pointers, 1000);
    for (size_t i = 0; i < lengths.size(); ++i) {
      Source alone = NewSource(RandomIds(lengths[i], 31, 2 + i),
                               std::vector<int>(lengths[i], 1));
      Encode({&alone}, 1000);
      EXPECT_EQ(together[i].hidden, alone.hidden) << i << " of " << lengths[0];
      EXPECT_EQ(CrossBlocks(together[i]), CrossBlocks(alone));
    }
  }
}

TEST_P(TransformerTest, RowsLeftFallToZeroNoSlowerThanRowsAreComputed) {
  Source source = NewSource(RandomIds(30, 31, 2), std::vector<int>(30, 1));
  EXPECT_EQ(transformer_->EncodeRowsLeft(*source.state), 30);
  int steps = 0;
  for (int left = 30; left > 0; ++steps) {
    std::vector<EncodePiece> pieces = {{.state = source.state.get(),
                                        .cross_blocks = source.cross->blocks(),
                                        .cross_layout = &pool_->layout(),
                                        .rows = 2}};
    ASSERT_TRUE(
        transformer_->Encode(compute_, activations_, absl::MakeSpan(pieces))
            .ok());
    const int now = transformer_->EncodeRowsLeft(*source.state);
    ASSERT_LT(now, left);
    left = now;
  }
  EXPECT_TRUE(transformer_->Encoded(*source.state));
}

TEST_P(TransformerTest, LogitsAreThoseOfThePaddedComputation) {
  const std::vector<int> source_ids = RandomIds(19, 31, 4);
  std::vector<int> mask(19, 1);
  mask[3] = mask[18] = 0;
  Source source = NewSource(source_ids, mask);
  Encode({&source}, 5);
  const std::vector<int32_t> token_mask(mask.begin(), mask.end());
  const std::vector<int> target = RandomIds(20, 29, 6);
  const Rows expected = naive_.Decode(
      target, naive_.Encode(source_ids, TokenMask(token_mask, 1, 19)),
      TokenMask(token_mask, 1, 20));

  BlockTable table(*pool_, 32);
  int done = 0;
  // A prompt chunk over more than a block, then rows one by one.
  for (int rows : {17, 1, 1, 1}) {
    std::vector<int> positions(rows);
    std::iota(positions.begin(), positions.end(), done);
    const int first = table.PrepareAppend(rows);
    const KvWrite write = {.first_row = 0,
                           .rows = rows,
                           .blocks = table.blocks(),
                           .first_token = first};
    const AttentionPiece self = {.first_row = 0,
                                 .rows = rows,
                                 .blocks = table.blocks(),
                                 .keys = first + 1,
                                 .causal = true};
    const AttentionPiece cross = {.first_row = 0,
                                  .rows = rows,
                                  .blocks = source.cross->blocks(),
                                  .keys = source.cross->tokens(),
                                  .causal = false};
    ASSERT_TRUE(
        transformer_
            ->Decode(compute_, activations_,
                     {.kv_layout = &pool_->layout(),
                      .ids = absl::MakeConstSpan(target).subspan(done, rows),
                      .positions = positions,
                      .writes = {&write, 1},
                      .self_pieces = {&self, 1},
                      .cross_pieces = {&cross, 1}})
            .ok());
    std::vector<int> wanted(rows);
    std::iota(wanted.begin(), wanted.end(), 0);
    const std::vector<LogitsNeed> needs(rows, {.row = true});
    ASSERT_TRUE(
        transformer_->Logits(compute_, activations_, wanted, needs).ok());
    for (int r = 0; r < rows; ++r) {
      SCOPED_TRACE(done + r);
      ExpectRow(expected[done + r], activations_.logits().view(r).Row().data());
    }
    done += rows;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TransformerTest,
    testing::Values(Shape{"PostSilu", NormPlace::kPost, Activation::kSilu, 24,
                          3, 3, 8, 40, 2, 2, false},
                    Shape{"PostReluBias", NormPlace::kPost, Activation::kRelu,
                          20, 2, 2, 10, 33, 1, 3, true},
                    Shape{"PreGelu", NormPlace::kPre, Activation::kGelu, 28, 4,
                          4, 7, 17, 3, 1, true},
                    Shape{"PreGroupedHeads", NormPlace::kPre, Activation::kSilu,
                          24, 6, 2, 5, 40, 2, 2, false}),
    [](const auto& shape) { return shape.param.name; });

}  // namespace
}  // namespace attend
