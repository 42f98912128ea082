#include "engine/transformer/transformer.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
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

// How a transformer knows positions.
enum class Place { kSinusoidal, kToEnd, kLearned, kRelative, kRotary, kWindow };

// A row of the table: what it is, and what it goes with by its number, so that
// each meets each in some row.
struct Variant {
  NormKind norm;
  NormPlace norm_place;
  Place place;
  int index;

  int Cycle(int of, int slower = 1) const { return index / slower % of; }
  bool biases() const { return Cycle(2, 3) == 0; }
};

std::string NameOf(const Variant& variant) {
  static constexpr const char* kPlaces[] = {"Sinusoidal", "ToEnd",  "Learned",
                                            "Relative",   "Rotary", "Window"};
  return absl::StrCat(
      variant.norm == NormKind::kLayerNorm ? "LayerNorm" : "RmsNorm",
      variant.norm_place == NormPlace::kPre ? "Pre" : "Post",
      kPlaces[static_cast<int>(variant.place)]);
}

std::vector<Variant> Variants() {
  std::vector<Variant> variants;
  for (NormKind norm : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
    for (NormPlace norm_place : {NormPlace::kPost, NormPlace::kPre}) {
      for (Place place : {Place::kSinusoidal, Place::kToEnd, Place::kLearned,
                          Place::kRelative, Place::kRotary, Place::kWindow}) {
        variants.push_back(
            {norm, norm_place, place, static_cast<int>(variants.size())});
      }
    }
  }
  return variants;
}

EmbeddingSpec EmbeddingOf(const Variant& variant, int vocab, int hidden) {
  EmbeddingSpec spec = {.vocab = vocab,
                        .width = variant.Cycle(4) == 1 ? 14 : hidden,
                        .scale = variant.Cycle(2) == 0 ? 2.0f : 1.0f,
                        .positions = Positions::kNone,
                        .max_positions = 64};
  if (variant.Cycle(3) == 0) spec.norm = NormSpec{.kind = variant.norm};
  if (variant.place == Place::kSinusoidal) {
    spec.positions = Positions::kSinusoidal;
  } else if (variant.place == Place::kToEnd) {
    spec.positions = Positions::kSinusoidalToEnd;
    spec.position_offset = 2;
    spec.uncounted_id = 1;
  } else if (variant.place == Place::kLearned) {
    spec.positions = Positions::kLearned;
    spec.position_offset = 3;
  }
  return spec;
}

StackSpec StackOf(const Variant& variant, int vocab, int hidden,
                  AttentionSpec attention, int layers) {
  static constexpr Activation kActivations[] = {
      Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
      Activation::kSilu, Activation::kTanh};
  attention.scale =
      variant.Cycle(2) == 0 ? 1 / std::sqrt(float(attention.head_dim)) : 0.5f;
  if (variant.place == Place::kRotary) attention.rotary = {.theta = 500};
  LayerSpec layer = {
      .norm = {.kind = variant.norm, .epsilon = 1e-4f},
      .norm_place = variant.norm_place,
      .self_attention = attention,
      .cross_attention = std::nullopt,
      .feed_forward = {.width = 30 + variant.index,
                       .activation = kActivations[variant.Cycle(5)],
                       .gated = variant.Cycle(2, 2) == 1}};
  StackSpec stack = {.embedding = EmbeddingOf(variant, vocab, hidden),
                     .layers = std::vector<LayerSpec>(layers, layer)};
  if (variant.place == Place::kRelative) {
    stack.relative_bias = {.buckets = 8, .max_distance = 11};
  }
  if (variant.place == Place::kWindow) {
    // Layers differ: the first sees all, and has no norm of its own.
    if (variant.norm_place == NormPlace::kPre)
      stack.layers[0].self_norm = false;
    for (int i = 1; i < layers; ++i) {
      stack.layers[i].self_attention.window = 5;
      stack.layers[i].self_attention.rotary = {.theta = 100};
    }
  }
  return stack;
}

// Encoder and decoder differ in layers, heads and their size.
TransformerSpec SpecOf(const Variant& variant) {
  const bool grouped = variant.Cycle(2, 5) == 1;
  TransformerSpec spec;
  spec.hidden = 24;
  spec.logits_bias = variant.biases();
  spec.logits_scale = variant.Cycle(2) == 0 ? 1 : 0.3f;
  spec.encoder =
      StackOf(variant, 31, spec.hidden,
              {.heads = 4, .kv_heads = grouped ? 2 : 4, .head_dim = 6}, 2);
  const AttentionSpec attention = {
      .heads = 2, .kv_heads = grouped ? 1 : 2, .head_dim = 10, .scale = 0.4f};
  spec.decoder = StackOf(variant, 29, spec.hidden, attention, 3);
  spec.decoder->causal = true;
  for (LayerSpec& layer : spec.decoder->layers) {
    layer.cross_attention = attention;
  }
  if (variant.Cycle(2, 4) == 0) spec.encoder->embedding.token_types = 2;
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

class TransformerTest : public testing::TestWithParam<Variant> {
 protected:
  static constexpr int kMaxRows = 32;

  TransformerTest()
      : spec_(SpecOf(GetParam())),
        weights_(RandomWeights(spec_, 5, GetParam().biases())),
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
    std::vector<int> ids, positions, table_positions, types;
    std::unique_ptr<EncodeState> state;
    std::unique_ptr<BlockTable> cross;
    std::vector<std::vector<float>> hidden;  // [rows, hidden] at the end
  };

  // Where the embedding does not count a token, that is what masks hide.
  NaiveTransformer::Input NewInput(int count, uint32_t seed,
                                   const std::vector<int>& mask) const {
    const EmbeddingSpec& embedding = spec_.encoder->embedding;
    NaiveTransformer::Input input = {.ids = RandomIds(count, 31, seed)};
    for (int i = 0; i < count; ++i) {
      if (!mask[i] && embedding.uncounted_id >= 0) {
        input.ids[i] = embedding.uncounted_id;
      }
      if (embedding.token_types > 0) input.types.push_back(i % 3 == 0);
    }
    return input;
  }

  // Positions with mask 0 leave the ragged rows.
  Source NewSource(const NaiveTransformer::Input& padded,
                   const std::vector<int>& mask) {
    const int uncounted = spec_.encoder->embedding.uncounted_id;
    Source source;
    int counted = 0;
    for (size_t i = 0; i < padded.ids.size(); ++i) {
      const int at = padded.ids[i] == uncounted ? -1 : counted++;
      if (!mask[i]) continue;
      source.ids.push_back(padded.ids[i]);
      source.positions.push_back(static_cast<int>(i));
      if (uncounted >= 0) source.table_positions.push_back(at);
      if (!padded.types.empty()) source.types.push_back(padded.types[i]);
    }
    source.state = std::make_unique<EncodeState>(
        EncodeState::Tokens{source.ids, source.positions,
                            source.table_positions, source.types},
        8);
    source.cross = std::make_unique<BlockTable>(*pool_, 64);
    source.cross->PrepareAppend(source.state->rows());
    source.state->Start(*buffer_);
    return source;
  }
  Source NewSource(int count, uint32_t seed) {
    const std::vector<int> ones(count, 1);
    return NewSource(NewInput(count, seed, ones), ones);
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
  for (const std::vector<int>& mask : std::vector<std::vector<int>>{
           std::vector<int>(21, 1),
           {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
           {0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}}) {
    const NaiveTransformer::Input input = NewInput(21, 1, mask);
    Source source = NewSource(input, mask);
    Encode({&source}, 1000);
    const std::vector<int32_t> token_mask(mask.begin(), mask.end());
    const Rows expected = naive_.Encode(input, TokenMask(token_mask, 1, 21));
    ASSERT_EQ(source.hidden.size(), source.positions.size());
    for (size_t r = 0; r < source.hidden.size(); ++r) {
      ExpectRow(expected[source.positions[r]], source.hidden[r].data());
    }
  }
}

TEST_P(TransformerTest, AnEncodeInPiecesAndInCompanyHasTheSameBits) {
  Source alone = NewSource(40, 2);
  Encode({&alone}, 1000);
  for (int rows : {1, 3, 7, 39}) {
    Source again = NewSource(40, 2);
    Source other = NewSource(9, 3);
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
      together.push_back(NewSource(lengths[i], 2 + i));
      pointers.push_back(&together.back());
    }
    Encode(pointers, 1000);
    for (size_t i = 0; i < lengths.size(); ++i) {
      Source alone = NewSource(lengths[i], 2 + i);
      Encode({&alone}, 1000);
      EXPECT_EQ(together[i].hidden, alone.hidden) << i << " of " << lengths[0];
      EXPECT_EQ(CrossBlocks(together[i]), CrossBlocks(alone));
    }
  }
}

TEST_P(TransformerTest, RowsLeftFallToZeroNoSlowerThanRowsAreComputed) {
  Source source = NewSource(30, 2);
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
  std::vector<int> mask(19, 1);
  mask[3] = mask[18] = 0;
  const NaiveTransformer::Input input = NewInput(19, 4, mask);
  Source source = NewSource(input, mask);
  Encode({&source}, 5);
  const std::vector<int32_t> token_mask(mask.begin(), mask.end());
  const std::vector<int> target = RandomIds(20, 29, 6);
  const Rows expected =
      naive_.Decode(target, naive_.Encode(input, TokenMask(token_mask, 1, 19)),
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
                                 .causal = true,
                                 .position = first,
                                 .key_positions = {}};
    const AttentionPiece cross = {.first_row = 0,
                                  .rows = rows,
                                  .blocks = source.cross->blocks(),
                                  .keys = source.cross->tokens(),
                                  .causal = false,
                                  .position = 0,
                                  .key_positions = {}};
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

INSTANTIATE_TEST_SUITE_P(Variants, TransformerTest,
                         testing::ValuesIn(Variants()),
                         [](const auto& variant) {
                           return NameOf(variant.param);
                         });

}  // namespace
}  // namespace attend
