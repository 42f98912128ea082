// What a transformer decodes, against the naive one.

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/transformer/transformer_fixture.h"

namespace attend {
namespace {

using DecodeTest = TransformerTest;

// As many numbers lie together as kernels of this machine multiply.
TEST_P(DecodeTest, KeysLieAsTheKernelsOfAttentionReadThem) {
  for (const KvType dtype : {KvType::kF32, KvType::kBf16, KvType::kInt8}) {
    const KvLayout layout = transformer_->decoder_kv_layout(dtype);
    EXPECT_EQ(layout.together, dtype == KvType::kInt8
                                   ? MostTogether(compute_.isa(), layout)
                                   : 1);
  }
}

TEST_P(DecodeTest, LogitsAreThoseOfThePaddedComputation) {
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
  // A piece of a prompt over more than a block, then rows one by one.
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
            ->Decode(*context_, activations_,
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
        transformer_->Logits(*context_, activations_, wanted, needs).ok());
    for (int r = 0; r < rows; ++r) {
      SCOPED_TRACE(done + r);
      ExpectRow(expected[done + r], activations_.logits().view(r).Row().data());
    }
    done += rows;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, DecodeTest, testing::ValuesIn(Variants()),
                         [](const auto& variant) {
                           return NameOf(variant.param);
                         });

}  // namespace
}  // namespace attend
