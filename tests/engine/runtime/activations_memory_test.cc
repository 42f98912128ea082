// What the buffers of a step take of the heap.

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/families/load_family.h"
#include "engine/json/json_file.h"
#include "engine/ops/logits/logits_buffer.h"
#include "engine/transformer/activations.h"
#include "gtest/gtest.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

constexpr int kRows = 64;

size_t Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

Activations::Types Both(ComputeType dtype) {
  return {.matmuls = dtype, .logits = dtype};
}

// What that takes which `make` returns.
template <typename Make>
size_t TakenBy(Make make) {
  const size_t before = Allocated();
  const auto made = make();
  return Allocated() - before;
}

// Two buffers for what is never needed at once would be more than the bounds
// allow.
class ActivationsMemoryTest : public testing::TestWithParam<ComputeType> {};

TEST_P(ActivationsMemoryTest, ARowTakesOnePartOfALayerAtATime) {
  const ComputeType dtype = GetParam();
  const auto config =
      JsonFile::Load(ATTEND_SOURCE_DIR "/models/en-de/config.json");
  const TransformerSpec spec = LoadFamily(*config)->spec;
  const int hidden = spec.hidden;
  const int width = spec.encoder->layers[0].feed_forward.width;
  ASSERT_EQ(width, 4 * hidden);
  // The hidden state, in f32 also its norm; in one memory first queries, keys,
  // values and the heads' outputs, then the feed-forward. The operands of the
  // hidden state and of what is widest.
  const bool f32 = dtype == ComputeType::kF32;
  const size_t row =
      4 * hidden * (f32 ? 6 : 5) +
      (f32 ? 0 : OperandBytes(dtype, hidden) + OperandBytes(dtype, width));
  EXPECT_EQ(Activations::BytesFor(spec, dtype, kRows), kRows * row);
  if (kSanitized) GTEST_SKIP() << "the sanitizer's malloc";

  const size_t logits = TakenBy([&] {
    return std::make_unique<LogitsBuffer>(kRows, spec.LogitsVocab(), 1);
  });
  const size_t all = TakenBy([&] {
    return std::make_unique<Activations>(spec, Both(dtype), kRows, 1);
  });
  EXPECT_GE(all, logits + kRows * row);
  EXPECT_LE(all, logits + kRows * row * 11 / 10 + (64 << 10));
}

// Rows of a decoder go through a layer some at a time.
TEST_P(ActivationsMemoryTest, ADecoderKeepsOnlyHiddenStatesForManyRows) {
  const ComputeType dtype = GetParam();
  const auto config = JsonFile::Load(
      ATTEND_SOURCE_DIR "/tests/golden/families/llama-llama3-rope/config.json");
  const TransformerSpec spec = LoadFamily(*config)->spec;
  constexpr int kMany = 1 << 12;
  const size_t x = 4 * spec.hidden;
  EXPECT_EQ(Activations::BytesFor(spec, dtype, 2 * kMany),
            Activations::BytesFor(spec, dtype, kMany) + kMany * x);
  if (kSanitized) GTEST_SKIP() << "the sanitizer's malloc";

  const auto taken = [&](int rows) {
    return TakenBy([&] {
      return std::make_unique<Activations>(spec, Both(dtype), rows, 1);
    });
  };
  // Beside it, the lists of what rows write and see.
  const size_t lists =
      3 * sizeof(int) + sizeof(KvWrite) + sizeof(AttentionPiece);
  EXPECT_LE(taken(2 * kMany) - taken(kMany), kMany * (x + lists) + (64 << 10));
}

// Rows by expert, and what experts make of them, count too.
TEST_P(ActivationsMemoryTest, ExpertsTakeWhatIsCounted) {
  const ComputeType dtype = GetParam();
  const auto config =
      JsonFile::Load(ATTEND_SOURCE_DIR
                     "/tests/golden/families/nomic_bert-experts/config.json");
  TransformerSpec spec = LoadFamily(*config)->spec;
  constexpr int kMany = 1 << 10;
  for (LayerSpec& layer : spec.encoder->layers) {
    layer.feed_forward.experts = {.count = 5, .chosen = 4};
  }
  const uint64_t with_experts = Activations::BytesFor(spec, dtype, kMany);
  const size_t taken = TakenBy([&] {
    return std::make_unique<Activations>(spec, Both(dtype), kMany, 1);
  });
  for (LayerSpec& layer : spec.encoder->layers) {
    layer.feed_forward.experts.reset();
  }
  EXPECT_GT(with_experts, Activations::BytesFor(spec, dtype, kMany));
  if (kSanitized) GTEST_SKIP() << "the sanitizer's malloc";
  EXPECT_GE(taken, with_experts);
  constexpr size_t kLists = 256;  // bytes of a row
  EXPECT_LE(taken, with_experts * 11 / 10 + kMany * kLists + (256 << 10));
}

INSTANTIATE_TEST_SUITE_P(ComputeTypes, ActivationsMemoryTest,
                         testing::ValuesIn(kAllComputeTypes),
                         [](const auto& test) {
                           return std::string(TypeName(test.param));
                         });

}  // namespace
}  // namespace attend
