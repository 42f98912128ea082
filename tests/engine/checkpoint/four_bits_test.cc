// Quantised matrices whose 4 bits stay as they are.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "engine/checkpoint/slot_rows.h"
#include "engine/tensor/four_bit_group.h"
#include "engine/tensor/half.h"
#include "tests/engine/checkpoint/quantized_files.h"

namespace attend {
namespace {

// Matrices [16, 128] of random numbers in 4 bits, whose scales have so few bits
// that f16 has their products with zeros.
class FourBitsTest : public QuantizedCheckpointTest {
 protected:
  static constexpr int kOut = 16;
  static constexpr int kIn = 128;

  StoredTensor SomeWords(int rows, int cols) {
    std::vector<uint32_t> words(size_t(rows) * cols);
    for (uint32_t& word : words) word = static_cast<uint32_t>(generator_());
    return Words({rows, cols}, words);
  }
  StoredTensor SomeScales(int rows, int cols) {
    std::vector<float> scales(size_t(rows) * cols);
    for (float& scale : scales) {
      scale = static_cast<float>(generator_() % 63 + 1) / 256;
    }
    return Scales({rows, cols}, scales);
  }

  Tensors Awq(int group_size) {
    return {{"m.qweight", SomeWords(kIn, kOut / 8)},
            {"m.qzeros", SomeWords(kIn / group_size, kOut / 8)},
            {"m.scales", SomeScales(kIn / group_size, kOut)}};
  }
  Tensors Gptq(int group_size) {
    return {{"m.qweight", SomeWords(kIn / 8, kOut)},
            {"m.qzeros", SomeWords(kIn / group_size, kOut / 8)},
            {"m.scales", SomeScales(kIn / group_size, kOut)}};
  }
  Tensors PackQuantized(int group_size, bool zeros) {
    Tensors tensors = {
        {"m.weight_packed", SomeWords(kOut, kIn / 8)},
        {"m.weight_scale", SomeScales(kOut, kIn / group_size)},
        {"m.weight_shape",
         {"I64", {2}, BytesOfAll(std::vector<int64_t>{kOut, kIn})}}};
    if (zeros) {
      tensors["m.weight_zero_point"] = SomeWords(kOut / 8, kIn / group_size);
    }
    return tensors;
  }

  // The groups of all rows; none if the rows are not given so.
  std::vector<FourBitGroup> Groups(const Tensors& tensors,
                                   const Quantization& quantization, int out,
                                   int in) {
    const QuantizedCheckpoint checkpoint = Open(tensors, quantization);
    const SlotRows rows(checkpoint, *checkpoint.Find("m.weight"), {}, out, in);
    const size_t of_row = (in + kGroupNumbers - 1) / kGroupNumbers;
    std::vector<FourBitGroup> groups(out * of_row);
    for (int r = 0; r < out; ++r) {
      if (!rows.ReadFourBits(r, {&groups[r * of_row], of_row})) return {};
    }
    return groups;
  }

  void ExpectNumbersAsTheyAre(const Tensors& tensors,
                              const Quantization& quantization) {
    const auto rows = Rows(tensors, quantization);
    const auto groups = Groups(tensors, quantization, kOut, kIn);
    ASSERT_FALSE(groups.empty());
    for (int r = 0; r < kOut; ++r) {
      for (int i = 0; i < kIn; ++i) {
        const FourBitGroup& group =
            groups[(r * kIn + i) / size_t{kGroupNumbers}];
        ASSERT_EQ(HalfToFloat(group.scale) * group.codes[i % kGroupNumbers] +
                      HalfToFloat(group.min),
                  rows[r][i])
            << "row " << r << ", input " << i;
      }
    }
  }

  std::mt19937 generator_;
};

TEST_F(FourBitsTest, NumbersOfEachLayoutStayAsTheyAre) {
  for (const int size : {32, 64, 128}) {
    SCOPED_TRACE(testing::Message() << "groups of " << size);
    const auto with = [&](MatrixLayout layout) {
      return Quantization{.layout = layout, .bits = 4, .group_size = size};
    };
    ExpectNumbersAsTheyAre(Awq(size), with(MatrixLayout::kAwq));
    Quantization gptq = with(MatrixLayout::kGptq);
    ExpectNumbersAsTheyAre(Gptq(size), gptq);
    gptq.zeros_less_one = true;
    ExpectNumbersAsTheyAre(Gptq(size), gptq);
    for (const bool zeros : {false, true}) {
      ExpectNumbersAsTheyAre(PackQuantized(size, zeros),
                             with(MatrixLayout::kPackQuantized));
    }
  }
}

TEST_F(FourBitsTest, OtherGroupsAndBitsAreNotGiven) {
  // Inputs next to each other have several groups, listed or by their size.
  Tensors mixed = Gptq(64);
  std::vector<uint32_t> list(kIn);
  for (int i = 0; i < kIn; ++i) list[i] = i % 2;
  mixed["m.g_idx"] = Words({kIn}, list);
  Quantization gptq = {
      .layout = MatrixLayout::kGptq, .bits = 4, .group_size = 64};
  EXPECT_TRUE(Groups(mixed, gptq, kOut, kIn).empty());
  const Quantization small = {
      .layout = MatrixLayout::kAwq, .bits = 4, .group_size = 16};
  EXPECT_TRUE(Groups(Awq(16), small, kOut, kIn).empty());
  gptq.bits = 8;
  gptq.group_size = 32;
  const Tensors tensors = {{"m.qweight", SomeWords(kIn / 4, kOut)},
                           {"m.qzeros", SomeWords(kIn / 32, kOut / 4)},
                           {"m.scales", SomeScales(kIn / 32, kOut)}};
  EXPECT_EQ(Rows(tensors, gptq).size(), size_t{kOut});
  EXPECT_TRUE(Groups(tensors, gptq, kOut, kIn).empty());
  // A scale that f16 has not.
  Tensors large = Awq(128);
  large["m.scales"] = Scales({1, kOut}, std::vector<float>(kOut, 1e5f));
  const Quantization awq = {
      .layout = MatrixLayout::kAwq, .bits = 4, .group_size = 128};
  EXPECT_TRUE(Groups(large, awq, kOut, kIn).empty());
}

}  // namespace
}  // namespace attend
