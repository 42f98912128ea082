// What a transformer encodes, against the naive one.

#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/transformer/transformer_fixture.h"

namespace attend {
namespace {

using EncodeTest = TransformerTest;

TEST_P(EncodeTest, MaskedInputsAreThoseOfThePaddedComputation) {
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

TEST_P(EncodeTest, AnEncodeInPiecesAndInCompanyHasTheSameBits) {
  Source alone = NewSource(40, 2);
  Encode({&alone}, 1000);
  for (int rows : {1, 3, 7, 39}) {
    Source again = NewSource(40, 2);
    Source other = NewSource(9, 3);
    Encode({&other, &again}, rows);
    EXPECT_EQ(again.hidden, alone.hidden) << rows << " rows a step";
  }
}

TEST_P(EncodeTest, SourcesSideBySideHaveTheSameBits) {
  // Shares that hold their sources whole, or take them in parts, or several, or
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

TEST_P(EncodeTest, RowsLeftFallToZeroNoSlowerThanRowsAreComputed) {
  Source source = NewSource(30, 2);
  EXPECT_EQ(transformer_->EncodeRowsLeft(*source.state), 30);
  int left = 30;
  while (left > 0) {
    std::vector<EncodePiece> pieces = {{.state = source.state.get(),
                                        .cross_blocks = source.cross->blocks(),
                                        .cross_layout = &pool_->layout(),
                                        .rows = 2}};
    ASSERT_TRUE(
        transformer_->Encode(*context_, activations_, absl::MakeSpan(pieces))
            .ok());
    const int now = transformer_->EncodeRowsLeft(*source.state);
    ASSERT_LT(now, left);
    left = now;
  }
  EXPECT_TRUE(transformer_->Encoded(*source.state));
}

INSTANTIATE_TEST_SUITE_P(Variants, EncodeTest, testing::ValuesIn(Variants()),
                         [](const auto& variant) {
                           return NameOf(variant.param);
                         });

}  // namespace
}  // namespace attend
