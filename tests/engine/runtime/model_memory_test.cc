#include "engine/runtime/model_memory.h"

#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/unused_tensors.h"
#include "engine/families/load_family.h"
#include "engine/json/json_file.h"
#include "engine/runtime/model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

Family FamilyOf(const std::string& directory) {
  const auto config = JsonFile::Load(directory + "/config.json");
  auto family = LoadFamily(*config);
  EXPECT_TRUE(family.ok()) << family.status();
  return *std::move(family);
}

uint64_t SumOf(const std::vector<MemoryNeed>& needs) {
  uint64_t sum = 0;
  for (const MemoryNeed& need : needs) sum += need.bytes;
  return sum;
}

// The bundled model has 5.5 million numbers of 2 bytes, of which 2.05 million
// are the one table (8,001 rows of 256). In f32 the table and the weights of
// the logits are the same numbers in memory.
TEST(ModelMemoryTest, WeightsByDType) {
  const std::string directory = ATTEND_SOURCE_DIR "/models/en-de";
  const auto checkpoint = Checkpoint::Open(directory);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  const Family family = FamilyOf(directory);
  const auto bytes = [&](ComputeType dtype) {
    return WeightBytes(*checkpoint, family.names, family.spec, dtype);
  };
  const uint64_t table =
      uint64_t{1} * family.spec.decoder->embedding.vocab * family.spec.hidden;
  const uint64_t others = bytes(ComputeType::kBf16) / 2 - table;
  EXPECT_GT(others, uint64_t{3} << 20);
  EXPECT_LT(others + table, uint64_t{8} << 20);
  EXPECT_EQ(bytes(ComputeType::kF32), 4 * (table + others));
  // A scale of 2 bytes and a zero for each part of 128 values; some tensors
  // are no whole parts.
  EXPECT_NEAR(bytes(ComputeType::kInt8), (table + others) * 131 / 128, 99);
}

TEST(ModelMemoryTest, PreciseWeightsHaveTwiceTheBytesInInt8) {
  const std::string directory = GoldenDirectory("families/llama-llama3-rope");
  const auto checkpoint = Checkpoint::Open(directory);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  const Family family = FamilyOf(directory);
  TransformerSpec unshared = family.spec;
  uint64_t values = 0;
  for (LayerSpec& layer : unshared.decoder->layers) {
    AttentionSpec& attention = layer.self_attention;
    ASSERT_LT(attention.kv_heads, attention.heads);
    values += uint64_t{1} * attention.kv_heads * attention.head_dim *
              family.spec.hidden;
    attention.kv_heads = attention.heads;
  }
  TransformerSpec no_tokens = unshared;
  no_tokens.encoder = unshared.decoder;
  ASSERT_EQ(PreciseTokens(no_tokens), 0);
  const uint64_t tokens =
      uint64_t{1} * PreciseTokens(unshared) * family.spec.hidden;
  for (const ComputeType dtype : {ComputeType::kInt8, ComputeType::kW8}) {
    const auto bytes = [&](const TransformerSpec& spec) {
      return WeightBytes(*checkpoint, family.names, spec, dtype);
    };
    const bool is_int8 = dtype == ComputeType::kInt8;
    EXPECT_EQ(bytes(family.spec) - bytes(unshared),
              is_int8 ? PackedBytes(dtype, values) : 0)
        << TypeName(dtype);
    EXPECT_EQ(bytes(unshared) - bytes(no_tokens),
              is_int8 ? PackedBytes(dtype, tokens) : 0)
        << TypeName(dtype);
  }
}

TEST(ModelMemoryTest, WhatIsServedGrowsWithItsOptions) {
  const TransformerSpec spec = FamilyOf(GoldenDirectory("marian/plain")).spec;
  const EngineOptions small = {
      .max_step_rows = 32, .max_source_tokens = 16, .kv_cache_bytes = 1 << 20};
  const auto needs = [&](EngineOptions options) {
    return SumOf(ServingNeeds(spec, ComputeType::kF32, options));
  };
  EngineOptions large = small;
  large.kv_cache_bytes += 5;
  EXPECT_EQ(needs(large), needs(small) + 5);
  large = small;
  large.max_source_tokens += 1;
  EXPECT_GE(needs(large), needs(small) + 4 * spec.hidden);
  large = small;
  large.max_step_rows *= 2;
  EXPECT_GE(needs(large), needs(small) + 32 * 4 * 5 * spec.hidden);
}

// A config.json may ask for more than memory has, with a small file beside it.
TEST(ModelMemoryTest, TablesOfDistancesCount) {
  TransformerSpec spec =
      FamilyOf(GoldenDirectory("families/deberta-v2-mean-pooling")).spec;
  StackSpec& encoder = *spec.encoder;
  ASSERT_GT(encoder.distances->max_distance, 0);
  const EngineOptions options = {.max_step_rows = 32, .max_source_tokens = 16};
  const auto needs = [&](int positions) {
    encoder.embedding.max_positions = positions;
    encoder.distances->max_distance = positions;
    return ServingNeeds(spec, ComputeType::kF32, options);
  };
  constexpr int kPositions = 1 << 18;
  const uint64_t row = sizeof(float) * 2 * spec.hidden * encoder.layers.size();
  const uint64_t more = SumOf(needs(kPositions)) - SumOf(needs(512));
  EXPECT_GT(more, row * kPositions);
  EXPECT_LT(more, row * 2 * kPositions);
  const absl::Status status =
      CheckMemory(needs(kPositions), {.bytes = 64 << 20, .source = "a test"});
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr(
                  "the tables of distances (max_position_embeddings) of "));
}

TEST(ModelMemoryTest, BiasesOfDistancesCount) {
  TransformerSpec spec =
      FamilyOf(GoldenDirectory("families/umt5-4x-long")).spec;
  ASSERT_TRUE(spec.encoder->relative_bias->per_layer);
  const auto needs = [&](int distance) {
    for (StackSpec* stack : {&*spec.encoder, &*spec.decoder}) {
      stack->relative_bias->max_distance = distance;
    }
    return SumOf(ServingNeeds(spec, ComputeType::kF32, {.max_step_rows = 32}));
  };
  uint64_t heads = 0;  // of all layers
  for (const StackSpec* stack : {&*spec.encoder, &*spec.decoder}) {
    for (const LayerSpec& layer : stack->layers) {
      heads += layer.self_attention.heads;
    }
  }
  EXPECT_EQ(needs(1 << 20) - needs(1 << 10),
            heads * sizeof(float) * 2 * ((1 << 20) - (1 << 10)));
}

TEST(ModelMemoryTest, AdaptersCount) {
  const std::string directory = GoldenDirectory("families/jina-v3-adapters");
  const auto checkpoint = Checkpoint::Open(directory);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  Family family = FamilyOf(directory);
  uint64_t others = 0;
  for (const std::string& name : checkpoint->Names()) {
    const auto view = checkpoint->Find(name);
    if (IsUnused(family.names, name) || view->shape.size() == 3) continue;
    others += view->count();
  }
  // Numbers of adapters have four bytes a number in any dtype.
  const auto bytes = [&](ComputeType dtype) {
    return WeightBytes(*checkpoint, family.names, family.spec, dtype);
  };
  EXPECT_GT(bytes(ComputeType::kF32), 4 * others);
  EXPECT_EQ(bytes(ComputeType::kF32) - bytes(ComputeType::kBf16), 2 * others);

  const EngineOptions options = {.max_step_rows = 32, .max_source_tokens = 16};
  const auto needs = [&](int rank) {
    family.spec.adapters->rank = rank;
    return SumOf(ServingNeeds(family.spec, ComputeType::kF32, options));
  };
  EXPECT_EQ(needs(103) - needs(3), 32 * 4 * 3 * 100u);
}

TEST(ModelMemoryTest, TokensOfThePoolAreThoseOfItsBlocks) {
  const std::string directory = GoldenDirectory("families/llama-llama3-rope");
  for (const KvType type : {KvType::kF32, KvType::kInt8}) {
    const EngineOptions options = {.kv_cache_bytes = (1 << 20) - 1,
                                   .kv_cache_dtype = type};
    const LoadedModel model = Load(directory, options);
    EXPECT_EQ(
        PoolTokens(FamilyOf(directory).spec, ComputeType::kF32, options),
        KvLayout::kBlockTokens * model.engine().NewContext()->total_blocks());
  }
}

TEST(ModelMemoryTest, KeysAndValuesAreInt8WhereThatCostsNothing) {
  EXPECT_EQ(DefaultKvType(ComputeType::kF32), KvType::kF32);
  for (const ComputeType dtype : {ComputeType::kBf16, ComputeType::kInt8,
                                  ComputeType::kW8, ComputeType::kInt4}) {
    EXPECT_EQ(DefaultKvType(dtype), KvType::kInt8);
  }
}

TEST(ModelMemoryTest, OptionsFitTheModel) {
  TransformerSpec spec = FamilyOf(GoldenDirectory("marian/plain")).spec;
  const int positions = spec.SourceEmbedding().max_positions;
  EXPECT_EQ(FitOptions(spec, {.max_source_tokens = 1 << 20}).max_source_tokens,
            positions);
  EXPECT_EQ(FitOptions(spec, {.kv_cache_bytes = 7}).kv_cache_bytes, 7u);
  spec.decoder.reset();
  EXPECT_EQ(FitOptions(spec, {.kv_cache_bytes = 7}).kv_cache_bytes, 0u);
}

TEST(ModelMemoryTest, AnEncoderTakesItsOwnLength) {
  TransformerSpec spec = FamilyOf(GoldenDirectory("marian/plain")).spec;
  const auto length = [&](int positions) {
    spec.encoder->embedding.max_positions = positions;
    return FitOptions(spec, {}).max_source_tokens;
  };
  EXPECT_EQ(length(8192), 8192);
  EXPECT_EQ(length(100), 100);
  // Relative positions.
  EXPECT_EQ(length(1 << 16), EngineOptions::kEncoderTokens);
  spec.hidden = 1 << 16;
  EXPECT_EQ(length(8192),
            EngineOptions::kMaxDefaultEncodeBytes / EncodeRowBytes(spec));
}

}  // namespace
}  // namespace attend
