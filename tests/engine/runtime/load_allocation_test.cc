#include <cstddef>
#include <optional>
#include <string>

#include "engine/ops/matmul/matmul.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/test_isa.h"
#include "tests/engine/runtime/golden.h"
#include "tests/support/allocation_count.h"

namespace attend {
namespace {

// The bundled model's table of tokens is tied to the vocabulary projection and
// the largest tensor; the file has 16 bits for a number.
constexpr size_t kNumbers = size_t{8001} * 256;

class LoadAllocationTest : public testing::TestWithParam<ComputeType> {};

TEST_P(LoadAllocationTest, NoTensorIsWholeInWiderNumbersThanItsModel) {
  const ComputeType dtype = GetParam();
  if (!CheckComputeType(dtype, TestIsa()).ok()) GTEST_SKIP() << "no such dtype";
  AllocationCount::Start();
  const LoadedModel model =
      Load(ATTEND_SOURCE_DIR "/models/en-de",
           {.max_step_rows = 64, .kv_cache_bytes = 1 << 20, .dtype = dtype});
  const AllocationCount count = AllocationCount::Stop();
  // Weights are in whole blocks of 64 rows.
  const size_t most = PackedBytes(dtype, kNumbers);
  EXPECT_GE(count.largest, most);
  EXPECT_LE(count.largest, most * 65 / 64);
}

INSTANTIATE_TEST_SUITE_P(ComputeTypes, LoadAllocationTest,
                         testing::Values(ComputeType::kF32, ComputeType::kBf16,
                                         ComputeType::kInt8, ComputeType::kW8),
                         [](const auto& test) {
                           return std::string(TypeName(test.param));
                         });

}  // namespace
}  // namespace attend
