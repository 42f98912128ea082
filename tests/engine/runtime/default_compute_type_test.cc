#include "engine/runtime/default_compute_type.h"

#include <utility>

#include "engine/checkpoint/checkpoint.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/four_bit_source.h"

namespace attend {
namespace {

TEST(DefaultComputeTypeTest, FloatsAreComputedInWhatTheCpuMultipliesFast) {
  const auto model = Checkpoint::Open(ATTEND_SOURCE_DIR "/models/en-de");
  ASSERT_TRUE(model.ok()) << model.status();
  const std::pair<Isa, ComputeType> defaults[] = {
      {Isa::kBaseline, ComputeType::kF32},
      {Isa::kAvx2, ComputeType::kW8},
      {Isa::kAvx512, ComputeType::kF32},
      {Isa::kAvx512Vnni, ComputeType::kInt8},
      {Isa::kAvx512Bf16, ComputeType::kInt8},
      {Isa::kAmx, ComputeType::kInt8},
  };
  for (const auto& [isa, dtype] : defaults) {
    EXPECT_EQ(DefaultComputeType(*model, isa), dtype) << IsaName(isa);
  }
}

TEST(DefaultComputeTypeTest, FourBitsStayFourBits) {
  const auto model = Checkpoint::Open(ATTEND_SOURCE_DIR "/models/en-de");
  ASSERT_TRUE(model.ok()) << model.status();
  const FourBitSource rounded(*model);
  EXPECT_EQ(DefaultComputeType(rounded, Isa::kBaseline), ComputeType::kInt4);
  EXPECT_EQ(DefaultComputeType(rounded, Isa::kAmx), ComputeType::kInt4);
}

}  // namespace
}  // namespace attend
