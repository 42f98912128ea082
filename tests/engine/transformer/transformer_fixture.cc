#include "tests/engine/transformer/transformer_fixture.h"

#include <cmath>
#include <random>
#include <utility>

#include "engine/checkpoint/checkpoint.h"
#include "tests/engine/transformer/slot_checkpoint.h"

namespace attend {

std::vector<int> RandomIds(int count, int vocab, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int> ids(count);
  for (int& id : ids) id = static_cast<int>(random() % vocab);
  return ids;
}

void ExpectRow(const std::vector<double>& expected, const float* found) {
  for (size_t j = 0; j < expected.size(); ++j) {
    ASSERT_NEAR(found[j], expected[j], 5e-5 * (1 + std::abs(expected[j])))
        << "column " << j;
  }
}

TransformerTest::TransformerTest()
    : spec_(SpecOf(GetParam())),
      weights_(RandomWeights(spec_, 5, GetParam().biases())),
      naive_(spec_, weights_),
      compute_({.threads = 2}),
      activations_(spec_, {ComputeType::kF32, ComputeType::kF32}, kMaxRows, 2) {
  const SlotCheckpoint files(weights_);
  auto checkpoint = Checkpoint::Open(files.directory());
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  Weights slots(*checkpoint, files.names());
  auto transformer =
      Transformer::Load(compute_, spec_, slots, {.max_rows = kMaxRows});
  EXPECT_TRUE(transformer.ok()) << transformer.status();
  EXPECT_TRUE(slots.CheckAllRead().ok());
  transformer_ = *std::move(transformer);
  context_.emplace(compute_, transformer_->primitives());
  pool_.emplace(transformer_->decoder_kv_layout(KvType::kF32), 1 << 20);
  buffer_.emplace(transformer_->encoder_kv_layout(), 256, spec_.hidden,
                  transformer_->encoder_query_width());
}

NaiveTransformer::Input TransformerTest::NewInput(
    int count, uint32_t seed, const std::vector<int>& mask) const {
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

TransformerTest::Source TransformerTest::NewSource(
    const NaiveTransformer::Input& padded, const std::vector<int>& mask) {
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
      EncodeState::Tokens{source.ids, source.positions, source.table_positions,
                          source.types},
      8);
  source.cross = std::make_unique<BlockTable>(*pool_, 64);
  source.cross->PrepareAppend(source.state->rows());
  source.state->Start(*buffer_);
  return source;
}

TransformerTest::Source TransformerTest::NewSource(int count, uint32_t seed) {
  const std::vector<int> ones(count, 1);
  return NewSource(NewInput(count, seed, ones), ones);
}

std::vector<std::string> TransformerTest::CrossBlocks(const Source& source) {
  std::vector<std::string> blocks;
  const KvLayout& layout = pool_->layout();
  for (int i = 0; i < source.cross->tokens() / layout.block_tokens; ++i) {
    blocks.emplace_back(
        reinterpret_cast<const char*>(source.cross->blocks()[i]),
        layout.block_bytes());
  }
  return blocks;
}

void TransformerTest::Encode(std::vector<Source*> sources, int rows) {
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
        transformer_->Encode(*context_, activations_, absl::MakeSpan(pieces))
            .ok());
  }
  for (Source* source : sources) {
    for (int r = 0; r < source->state->rows(); ++r) {
      const float* row = source->state->hidden(r, spec_.hidden);
      source->hidden.emplace_back(row, row + spec_.hidden);
    }
  }
}

}  // namespace attend
