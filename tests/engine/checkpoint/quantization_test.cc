#include "engine/checkpoint/quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace attend {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// What ReadQuantization() says about a quantization_config.
std::string ConfigError(const Json& quantization) {
  const Json config = {{"quantization_config", quantization}};
  const auto read =
      ReadQuantization(*JsonFile::Parse("config.json", config.dump()));
  EXPECT_FALSE(read.ok()) << config;
  return std::string(read.status().message());
}

TEST(ReadQuantizationTest, WhatIsNotReadIsNamed) {
  const Json gptq = {
      {"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}};
  const Json awq = {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 128}};
  const auto error = [](Json config, const char* key, Json value) {
    config[key] = std::move(value);
    return ConfigError(config);
  };
  EXPECT_THAT(ConfigError({{"quant_method", "bitsandbytes"}}),
              HasSubstr("quant_method is \"bitsandbytes\", expected one of "
                        "awq, gptq, compressed-tensors"));
  EXPECT_THAT(error(gptq, "bits", 3),
              HasSubstr("bits is 3, expected 2 or 4 or 8"));
  EXPECT_THAT(error(gptq, "bits", nullptr), HasSubstr("bits is missing"));
  EXPECT_THAT(error(gptq, "group_size", 0), HasSubstr("group_size is 0"));
  EXPECT_THAT(error(gptq, "checkpoint_format", "marlin"),
              HasSubstr("checkpoint_format is \"marlin\""));
  EXPECT_THAT(error(gptq, "format", "exllama"),
              HasSubstr("format is \"exllama\""));
  EXPECT_THAT(error(gptq, "dynamic", {{"-:.*", Json::object()}}),
              HasSubstr("dynamic is "));
  EXPECT_THAT(error(gptq, "pack_dtype", "int64"), HasSubstr("pack_dtype is"));
  EXPECT_THAT(error(awq, "bits", 8), HasSubstr("bits is 8, expected 4"));
  EXPECT_THAT(error(awq, "version", "gemv"),
              HasSubstr("version is \"gemv\", expected gemm"));
  EXPECT_THAT(error(awq, "zero_point", false),
              HasSubstr("zero_point is false"));
}

Json CompressedTensors() {
  return {{"quant_method", "compressed-tensors"},
          {"format", "int-quantized"},
          {"sparsity_config", {{"format", "dense"}}},
          {"config_groups",
           {{"group_0",
             {{"weights",
               {{"num_bits", 8}, {"type", "int"}, {"strategy", "channel"}}},
              {"input_activations",
               {{"num_bits", 8}, {"type", "int"}, {"dynamic", true}}}}}}}};
}

TEST(ReadQuantizationTest, TorchaoHasInt8Alone) {
  const auto config = [](const char* type) {
    return Json{{"quant_method", "torchao"},
                {"quant_type", {{"default", {{"_type", type}}}}}};
  };
  const Json int8 = {{"quantization_config", config("Int8WeightOnlyConfig")}};
  const auto read =
      ReadQuantization(*JsonFile::Parse("config.json", int8.dump()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->layout, MatrixLayout::kTorchaoInt8);
  EXPECT_THAT(ConfigError(config("Int4WeightOnlyConfig")),
              HasSubstr("default: _type is \"Int4WeightOnlyConfig\""));
  EXPECT_THAT(ConfigError({{"quant_method", "torchao"},
                           {"quant_type", {{"fqn", Json::object()}}}}),
              HasSubstr("default is missing"));
}

TEST(ReadQuantizationTest, InputsMayBeRoundedByRow) {
  const Json config = {{"quantization_config", CompressedTensors()}};
  const auto read =
      ReadQuantization(*JsonFile::Parse("config.json", config.dump()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->layout, MatrixLayout::kIntQuantized);
}

TEST(ReadQuantizationTest, WhatIsNotReadOfCompressedTensorsIsNamed) {
  const auto error = [](const char* place, Json value) {
    Json config = CompressedTensors();
    config[Json::json_pointer(place)] = std::move(value);
    return ConfigError(config);
  };
  const std::string group = "/config_groups/group_0";
  const auto in_group = [&](const char* place, Json value) {
    return error((group + place).c_str(), std::move(value));
  };
  EXPECT_THAT(error("/format", "float-quantized"),
              HasSubstr("format is \"float-quantized\""));
  EXPECT_THAT(in_group("/format", "mxfp4-pack-quantized"),
              HasSubstr("group_0: format is \"mxfp4-pack-quantized\""));
  EXPECT_THAT(error("/kv_cache_scheme", {{"num_bits", 8}}),
              HasSubstr("kv_cache_scheme is "));
  EXPECT_THAT(error("/sparsity_config/format", "sparse-bitmask"),
              HasSubstr("sparsity_config: format is \"sparse-bitmask\""));
  EXPECT_THAT(error("/transform_config", {{"config_groups", 1}}),
              HasSubstr("transform_config is "));
  EXPECT_THAT(error("/config_groups", Json::object()),
              HasSubstr("config_groups is {}, expected one group"));
  EXPECT_THAT(in_group("/weights/num_bits", 4),
              HasSubstr("weights: num_bits is 4, expected 8"));
  EXPECT_THAT(in_group("/weights/type", "float"), HasSubstr("type is"));
  EXPECT_THAT(in_group("/weights/strategy", "block"),
              HasSubstr("strategy is \"block\""));
  EXPECT_THAT(in_group("/weights/symmetric", false),
              HasSubstr("symmetric is false"));
  EXPECT_THAT(in_group("/weights/actorder", "group"),
              HasSubstr("actorder is \"group\""));
  EXPECT_THAT(in_group("/input_activations/dynamic", false),
              HasSubstr("input_activations: dynamic is false"));
  EXPECT_THAT(in_group("/input_activations/num_bits", 4),
              HasSubstr("num_bits is 4"));
}

}  // namespace
}  // namespace attend
