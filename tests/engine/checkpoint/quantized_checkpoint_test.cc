#include "engine/checkpoint/quantized_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/engine/checkpoint/quantized_files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Quantization kGptq = {.layout = MatrixLayout::kGptq,
                                .bits = 4,
                                .group_size = 4,
                                .zeros_less_one = true};

// [8 inputs, 1 output], of two groups, whose inputs are mixed.
Tensors Gptq() {
  return {{"m.qweight", Words({1, 1}, {0x76543210})},
          {"m.qzeros", Words({2, 1}, {0x00000003, 0x00000000})},
          {"m.scales", Scales({2, 1}, {1, 0.5f})},
          {"m.g_idx", Words({8}, {0, 1, 0, 1, 0, 1, 0, 1})}};
}

TEST_F(QuantizedCheckpointTest, InputsOfGptqHaveTheGroupThatIsListed) {
  EXPECT_THAT(Rows(Gptq(), kGptq),
              ElementsAre(ElementsAre(-4, 0, -2, 1, 0, 2, 2, 3)));
}

TEST_F(QuantizedCheckpointTest, WithoutAListGroupsAreNeighbours) {
  Tensors tensors = Gptq();
  tensors.erase("m.g_idx");
  EXPECT_THAT(Rows(tensors, kGptq),
              ElementsAre(ElementsAre(-4, -3, -2, -1, 1.5f, 2, 2.5f, 3)));
}

// A zero of 0 less one is 15, and the next of the word lacks one more.
TEST_F(QuantizedCheckpointTest, ZerosLessOneMayBorrow) {
  Tensors tensors = {{"m.qweight", Words({1, 2}, {0x11111111, 0x11111111})},
                     {"m.qzeros", Words({1, 1}, {0x2f})},
                     {"m.scales", Scales({1, 2}, {1, 1})}};
  Quantization quantization = kGptq;
  quantization.group_size = 0;
  // 0x2f + 0x11111111 ends in 0x40: zeros 0 and 4.
  const auto rows = Rows(tensors, quantization);
  EXPECT_EQ(rows[0][0], 1);
  EXPECT_EQ(rows[1][0], -3);
  quantization.zeros_less_one = false;
  EXPECT_EQ(Rows(tensors, quantization)[1][7], 1 - 2);
}

TEST_F(QuantizedCheckpointTest, PartsOfGptqThatDoNotFitAreNamed) {
  const auto error = [&](const char* part, std::optional<StoredTensor> tensor,
                         Quantization quantization = kGptq) {
    Tensors tensors = Gptq();
    if (tensor) {
      tensors[part] = *tensor;
    } else {
      tensors.erase(part);
    }
    return Error(tensors, quantization);
  };
  const auto names = [&](const char* part, const char* text) {
    return AllOf(HasSubstr(absl::StrCat(directory_.path(),
                                        "/model.safetensors: tensor ", part)),
                 HasSubstr(text));
  };
  EXPECT_THAT(
      error("m.scales", std::nullopt),
      AllOf(StartsWith(directory_.path()), HasSubstr("no tensor m.scales")));
  EXPECT_THAT(error("m.qzeros", std::nullopt), HasSubstr("no tensor m.qzeros"));
  EXPECT_THAT(error("m.qzeros", Words({1, 2}, {3, 0})),
              names("m.qzeros", "shape [1, 2], expected I32 and [2, 1]"));
  EXPECT_THAT(error("m.scales", Scales({1, 1}, {1})),
              names("m.scales",
                    "has shape [1, 1], expected [2, 1]: 2 groups "
                    "of the 8 inputs, by group_size"));
  EXPECT_THAT(error("m.scales", Scales({2, 1}, {1, 1e38f})),
              names("m.scales", "holds 1e+38 at element 1"));
  EXPECT_THAT(error("m.g_idx", Words({8}, {0, 1, 0, 2, 0, 1, 0, 1})),
              names("m.g_idx",
                    "holds 2 at element 3, expected a group in "
                    "[0, 2)"));
  EXPECT_THAT(error("m.g_idx", Words({8}, {0, 1, 0, 0, 0, 1, 0, ~0u})),
              names("m.g_idx", "holds -1 at element 7"));
  EXPECT_THAT(error("m.g_idx", Words({4}, {0, 1, 0, 1})),
              names("m.g_idx", "shape [4], expected I32 and [8]"));
  EXPECT_THAT(error("m.qweight", Scales({1, 1}, {1})),
              names("m.qweight",
                    "has dtype F32 and shape [1, 1], expected "
                    "I32 and a matrix"));
  Quantization other = kGptq;
  other.bits = 8;
  EXPECT_THAT(error("m.g_idx", Words({4}, {0, 0, 0, 0}), other),
              names("m.qzeros", "expected I32 and [1, 1]"));
}

TEST_F(QuantizedCheckpointTest, AMatrixIsPlainOrQuantised) {
  Tensors tensors = Gptq();
  tensors["m.weight"] = Scales({1, 1}, {1});
  EXPECT_THAT(Error(tensors, kGptq),
              HasSubstr("has tensors m.weight and m.qweight, expected one"));
}

constexpr Quantization kPacked = {
    .layout = MatrixLayout::kPackQuantized, .bits = 8, .group_size = 2};

// [2 outputs, 3 inputs]: the last word of a row and the last group are not
// full.
Tensors Packed() {
  const std::vector<int64_t> shape = {2, 3};
  return {{"m.weight_packed", Words({2, 1}, {0x00828180, 0x007f0080})},
          {"m.weight_scale", Scales({2, 2}, {1, 2, 3, 4})},
          {"m.weight_shape", {"I64", {2}, BytesOfAll(shape)}}};
}

TEST_F(QuantizedCheckpointTest, PackedNumbersAreLessTheMiddleOrTheirZero) {
  Tensors tensors = Packed();
  EXPECT_THAT(Rows(tensors, kPacked),
              ElementsAre(ElementsAre(0, 1, 4), ElementsAre(0, -384, -4)));
  tensors["m.weight_zero_point"] = Words({1, 2}, {0x7f80, 0x8082});
  EXPECT_THAT(Rows(tensors, kPacked),
              ElementsAre(ElementsAre(0, 1, 0), ElementsAre(3, -381, -4)));
}

TEST_F(QuantizedCheckpointTest, PackedPartsThatDoNotFitAreNamed) {
  Tensors tensors = Packed();
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {2, 5}, {1, 3}, {2, -3}, {2, int64_t{1} << 60}}) {
    tensors["m.weight_shape"].bytes = BytesOfAll(shape);
    EXPECT_THAT(Error(tensors, kPacked),
                HasSubstr(absl::StrCat("8 bits for each number of [", shape[0],
                                       ", ", shape[1], "]")));
  }
  tensors.erase("m.weight_shape");
  EXPECT_THAT(Error(tensors, kPacked), HasSubstr("no tensor m.weight_shape"));
  tensors = Packed();
  tensors["m.weight_zero_point"] = Words({2, 1}, {0, 0});
  EXPECT_THAT(Error(tensors, kPacked),
              HasSubstr("weight_zero_point has dtype I32 and shape [2, 1], "
                        "expected I32 and [1, 2]"));
}

constexpr Quantization kInt8 = {.layout = MatrixLayout::kIntQuantized,
                                .bits = 8};

TEST_F(QuantizedCheckpointTest, Int8RowsHaveAScaleEachOrOneForAll) {
  Tensors tensors = {{"m.weight", {"I8", {2, 2}, std::string("\1\xff\2\x80")}},
                     {"m.weight_scale", Scales({2, 1}, {1, 0.5f})}};
  EXPECT_THAT(Rows(tensors, kInt8),
              ElementsAre(ElementsAre(1, -1), ElementsAre(1, -64)));
  tensors["m.weight_scale"] = Scales({1}, {2});
  EXPECT_THAT(Rows(tensors, kInt8),
              ElementsAre(ElementsAre(2, -2), ElementsAre(4, -256)));
  tensors["m.weight_scale"] = Scales({3}, {1, 1, 1});
  EXPECT_THAT(Error(tensors, kInt8),
              HasSubstr("expected a scale for each of 2 rows, or one for all"));
}

TEST_F(QuantizedCheckpointTest, TorchaosInt8HasNoOtherZeros) {
  constexpr Quantization kTorchao = {.layout = MatrixLayout::kTorchaoInt8,
                                     .bits = 8};
  Tensors tensors = {
      {"m._weight_qdata", {"I8", {2, 2}, std::string("\1\xff\2\x80")}},
      {"m._weight_scale", Scales({2, 1}, {1, 0.5f})},
      {"m._weight_zero_point", {"I8", {2, 1}, std::string(2, '\0')}}};
  EXPECT_THAT(Rows(tensors, kTorchao),
              ElementsAre(ElementsAre(1, -1), ElementsAre(1, -64)));
  EXPECT_THAT(Open(tensors, kTorchao).Names(), ElementsAre("m.weight"));
  tensors["m._weight_zero_point"].bytes[1] = 3;
  EXPECT_THAT(Error(tensors, kTorchao),
              HasSubstr("_weight_zero_point has dtype I8 and shape [2, 1], "
                        "expected I8 and zeros alone"));
  tensors.erase("m._weight_zero_point");
  EXPECT_THAT(Error(tensors, kTorchao),
              HasSubstr("no tensor m._weight_zero_point"));
}

// Numbers of a word are at places of their own; tests/golden has whole models.
TEST_F(QuantizedCheckpointTest, NumbersOfAwqHaveTheirPlacesInAWord) {
  const Tensors tensors = {
      {"m.qweight", Words({1, 1}, {0x76543210})},
      {"m.qzeros", Words({1, 1}, {0})},
      {"m.scales", Scales({1, 8}, {1, 1, 1, 1, 1, 1, 1, 1})}};
  std::vector<float> column;
  for (const auto& row :
       Rows(tensors,
            {.layout = MatrixLayout::kAwq, .bits = 4, .group_size = 1})) {
    column.push_back(row[0]);
  }
  EXPECT_THAT(column, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

TEST_F(QuantizedCheckpointTest, PartsOfAMatrixHaveItsName) {
  Tensors tensors = Gptq();
  tensors["m.bias"] = Scales({1}, {3});
  tensors["n.weight"] = Scales({1, 1}, {5});
  tensors["n.scales"] = Scales({1, 1}, {7});  // of no quantised matrix
  const QuantizedCheckpoint checkpoint = Open(tensors, kGptq);
  EXPECT_THAT(checkpoint.Names(),
              ElementsAre("m.bias", "m.weight", "n.scales", "n.weight"));
  EXPECT_TRUE(checkpoint.Has("m.weight"));
  EXPECT_FALSE(checkpoint.Has("k.weight"));
  EXPECT_EQ(checkpoint.Find("n.weight")->rows, nullptr);
  EXPECT_EQ(checkpoint.Find("n.weight")->count(), 1u);
}

}  // namespace
}  // namespace attend
