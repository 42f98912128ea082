#include "engine/tensor/storage_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/tensor/four_bit_group.h"
#include "engine/tensor/half.h"
#include "engine/tensor/quantized_block.h"

namespace attend {
namespace {

constexpr StorageType kQuantised[] = {StorageType::kQ4_0, StorageType::kQ4_1,
                                      StorageType::kQ5_0, StorageType::kQ5_1,
                                      StorageType::kQ8_0, StorageType::kQ2K,
                                      StorageType::kQ3K,  StorageType::kQ4K,
                                      StorageType::kQ5K,  StorageType::kQ6K};

std::string FromHex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// What tests/golden/make_gguf.py wrote: the numbers of random blocks, as
// llama.cpp's library reads them. All bits are equal.
class QuantisedTest : public testing::TestWithParam<StorageType> {
 protected:
  QuantisedTest() {
    nlohmann::json blocks;
    std::ifstream(ATTEND_SOURCE_DIR "/tests/golden/gguf/blocks.json") >> blocks;
    for (const auto& golden : blocks[BlockOf(GetParam()).name]) {
      bytes_ += FromHex(golden["block"]);
      const std::string numbers = FromHex(golden["numbers"]);
      expected_.resize(expected_.size() + numbers.size() / sizeof(float));
      std::memcpy(
          expected_.data() + expected_.size() - numbers.size() / sizeof(float),
          numbers.data(), numbers.size());
    }
  }
  const uint8_t* bytes() const {
    return reinterpret_cast<const uint8_t*>(bytes_.data());
  }

  std::string bytes_;
  std::vector<float> expected_;
};

TEST_P(QuantisedTest, StandsForTheNumbersOfLlamaCpp) {
  ASSERT_EQ(expected_.size(), 2u * BlockOf(GetParam()).numbers);
  ASSERT_EQ(bytes_.size(), BytesOf(GetParam(), expected_.size()));
  EXPECT_EQ(NumbersIn(GetParam(), bytes_.size()), expected_.size());
  std::vector<float> found(expected_.size());
  ToFloats(GetParam(), bytes(), absl::MakeSpan(found));
  EXPECT_EQ(found, expected_);
  AddFloats(GetParam(), bytes(), absl::MakeSpan(found));
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], 2 * expected_[i]) << i;
  }
}

TEST_P(QuantisedTest, FindsScalesThatAreNotFinite) {
  const size_t block = BlockOf(GetParam()).bytes;
  const auto find = [&] {
    return FindNotFinite(GetParam(), {bytes(), bytes_.size()});
  };
  EXPECT_EQ(find(), expected_.size());
  // Whichever bytes are a scale: with it infinite or NaN, the block is found,
  // and only then.
  for (size_t at = block; at + 1 < 2 * block; at += 2) {
    const std::string before = bytes_;
    bytes_[at] = 0;
    bytes_[at + 1] = 0x7c;
    std::vector<float> values(expected_.size());
    ToFloats(GetParam(), bytes(), absl::MakeSpan(values));
    bool finite = true;
    for (const float value : values) finite = finite && value - value == 0;
    EXPECT_EQ(find(), finite ? expected_.size() : expected_.size() / 2) << at;
    bytes_ = before;
  }
}

// What is in 4 bits is taken as it is: as the same numbers, but for the scales
// of Q4_K, which have more bits than f16.
TEST_P(QuantisedTest, GroupsOfFourBitsAreTheSameNumbers) {
  const int count = FourBitGroupsOf(GetParam());
  if (std::string(BlockOf(GetParam()).name).substr(0, 2) != "Q4") {
    EXPECT_EQ(count, 0);
    return;
  }
  ASSERT_EQ(count * kGroupNumbers, BlockOf(GetParam()).numbers);
  std::vector<FourBitGroup> groups(2 * count);
  ASSERT_TRUE(ReadFourBits(GetParam(), bytes(), groups.data()));
  ASSERT_TRUE(ReadFourBits(GetParam(), bytes() + BlockOf(GetParam()).bytes,
                           &groups[count]));
  for (size_t i = 0; i < expected_.size(); ++i) {
    const FourBitGroup& group = groups[i / kGroupNumbers];
    const float scale = HalfToFloat(group.scale);
    const float min = HalfToFloat(group.min);
    const float code = group.codes[i % kGroupNumbers];
    const float rounded = GetParam() == StorageType::kQ4K ? 0x1p-11f : 0;
    EXPECT_NEAR(scale * code + min, expected_[i],
                rounded * (std::abs(scale * code) + std::abs(min)))
        << i;
  }
}

TEST(HalfTest, FloatsAreRoundedToTheNearest) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float half = HalfToFloat(static_cast<uint16_t>(bits));
    ASSERT_EQ(FloatToHalf(half), bits);
    ASSERT_EQ(FloatToHalf(-half), bits | 0x8000);
    const float next = bits + 1 < 0x7c00
                           ? HalfToFloat(static_cast<uint16_t>(bits + 1))
                           : 65536;
    const float middle = half / 2 + next / 2;
    ASSERT_EQ(FloatToHalf(middle), bits + bits % 2);
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 1e30f)), bits + 1);
  }
  EXPECT_EQ(FloatToHalf(3e38f), 0x7c00);
}

INSTANTIATE_TEST_SUITE_P(Types, QuantisedTest, testing::ValuesIn(kQuantised),
                         [](const auto& type) {
                           return BlockOf(type.param).name;
                         });

}  // namespace
}  // namespace attend
